import io

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from judgec.errors import ArtifactError
from judgec.rag.retrieval.embed import fit_latent
from judgec.rag.retrieval.latent import LatentSemantics, weigh

TEXTS = [
    "amber basil basil cedar",
    "cedar dune dune dune",
    "amber amber ember",
    "basil ember dune cedar flint",
    "grove",
]


def test_weights_equal_scikit_learns() -> None:
    theirs = TfidfVectorizer(sublinear_tf=True)
    wanted = theirs.fit_transform(TEXTS).toarray()
    column = {term: int(place) for term, place in theirs.vocabulary_.items()}
    found = weigh(TEXTS, column, theirs.idf_.astype(np.float32)).toarray()
    assert found == pytest.approx(wanted, abs=1e-6)


def test_text_without_a_known_term_is_the_zero_vector() -> None:
    model, vectors = fit_latent(TEXTS, 0)
    assert vectors == pytest.approx(model.documents(TEXTS), abs=1e-6)
    found = model.documents(["nothing known here", "amber"])
    assert not found[0].any()
    assert np.linalg.norm(found[1]) == pytest.approx(1, abs=1e-5)


def test_fit_is_the_same_for_the_same_seed_and_survives_saving() -> None:
    (one, _), (other, _) = fit_latent(TEXTS, 4), fit_latent(TEXTS, 4)
    assert np.array_equal(one.components, other.components)
    loaded = LatentSemantics.parse(one.dump(), "here")
    assert loaded.terms == one.terms
    assert np.array_equal(loaded.documents(TEXTS), one.documents(TEXTS))


def test_words_that_share_company_become_similar() -> None:
    texts = [f"car engine road {n}" for n in range(20)] + [f"automobile engine road {n}" for n in range(20)]
    texts += [f"banana fruit yellow {n}" for n in range(40)]
    whole, _ = fit_latent(texts, 0)
    model = LatentSemantics(whole.terms, whole.idf, whole.components[:, :2])
    car, automobile, banana = model.queries(["car", "automobile", "banana"])
    assert car @ automobile > 0.99
    assert abs(car @ banana) < 0.1


@pytest.mark.parametrize("texts", [["one text only"], ["a", "b"], ["same same", "same same"], ["the of"]])
def test_tiny_corpora_are_fitted(texts: list[str]) -> None:
    assert fit_latent(texts, 0)[0].documents(texts).shape[0] == len(texts)


def test_damaged_model_is_refused() -> None:
    with pytest.raises(ArtifactError, match="judgec index"):
        LatentSemantics.parse(b"not numbers", "lsa.npz")


def test_model_that_unpacks_to_more_than_it_is_is_refused_before_it_is_unpacked() -> None:
    file = io.BytesIO()
    np.savez_compressed(file, terms=np.zeros(10_000_000, np.uint8), idf=np.zeros(1), components=np.zeros((1, 1)))
    assert len(file.getvalue()) < 50_000
    with pytest.raises(ArtifactError, match="it is compressed"):
        LatentSemantics.parse(file.getvalue(), "lsa.npz")
