"""Words of heads that say a column is a machine's: its reasons are nobody's where nobody named the judge.

A head is read word by word: split at spaces, ``_ - .``, digits and camelCase, in any case. Who is a person, and who a
judge whose verdicts count, no word says: that is declared.
"""

import re
from itertools import pairwise

from judgec.records.tasks.registry import plain


def _set(text: str) -> frozenset[str]:
    return frozenset(map(plain, text.split()))


JUDGE_HEADS = ("judge", "judge_id", "judge_name", "judge_model")  # of people only where nothing else says who they are
MACHINES = _set(  # models, their makers, metrics, and tools that judge: nobody's name
    """
    ai ai21 aleph alephalpha alibaba alignscore alpaca amazon anthropic armorm artificial artificiale artificielle atla
    athina autoeval autograder autoj autorater azure baichuan baidu bartscore bedrock bertscore bing bleu bleurt bloomz
    bm25 braintrust bytedance chatglm chatgpt chrf codestral cohere colbert comet commandr copilot cosine
    cosinesimilarity cosinus criticgpt crossencoder davinci databricks dbrx deberta deepchecks deepeval deepmind
    deepseek dolly doubao editdistance embedding embeddings eurollm exactmatch exaone f1 factscore flowjudge gemini
    genai geval gigachat giskard glider glm google gpt grok groq guanaco hhem huggingface humanloop hunyuan
    hyperclova ia ibm internlm jamba judgelm jurassic ki kunstmatige kuenstlich kuenstliche lamda langfuse langsmith
    languagemodel levenshtein lfm llama llm llmjudge llms meteor microsoft ministral mistral mixtral moonshot
    moverscore mpnet mrr ndcg nemo nemotron nli nvidia ollama openai openchat opik pandalm patronus perplexity pharia
    pixtral prometheus promptfoo qianwen questeval qwen qwq ragas redpajama rerank reranker rewardmodel roberta rouge
    rougel rougelsum sacrebleu sagemaker sbert selfcheckgpt semanticsimilarity sensenova skywork slm smollm
    sprachmodell sprachmodelle stablelm summac sztuczna taalmodel taalmodellen tekoaly tencent tongyi trulens unieval
    uptrain vectara vertexai vicuna vllm vlm watsonx wizardlm xai yandexgpt yapay zhipu
    ии ші гигачат нейронка нейросеть нейросети
    人工智能 大模型 大语言模型 语言模型 文心一言 通义千问 豆包 星火 人工知能 言語モデル 生成系 인공지능 언어모델
    """
)
AUTOMATIC = _set(  # a machine's, beside words of people too: Evaluador automático
    """
    automat automated automatic automatica automatically automatico automatique automatisch automatische automatischer
    automatisee automatisiert automatisierte automatisk automatiska automatiskt automaticky automatyczna automatyczne
    automatyczny maschinell maschinelle otomatik
    авто автомат автоматическая автоматическии автоматично автоматична автооценка 自动 自動 자동
    """
)
WEAK = AUTOMATIC | _set(
    """
    algorithm algorithme algorithmus algoritme algoritmo algorytm auto baseline bot chatbot classifier computed
    computer detector domare dommer evals giudice heuristic heuristik judge judges juez juge juiz klassifikator
    macchina machine maquina maschine maskin maszyna metric metrica metrik metrique model modele modell modello modelo
    models modelu pipeline predicted prediction rechter reward richter robo robot roboter scorer sedzia similarity
    sistema sudija system systeem systeme system verifier vorhersage
    алгоритм бот машина модель модели робот система судья 机器 机器人 算法 模型 系统
    機械 アルゴリズム ボット モデル システム 알고리즘 기계 모델 봇 시스템
    """
)
RATINGS = _set(  # what is given: of no weight for who it was
    """
    annotation answer assessment bewertung calificacion check checker checks eval evaluacion evaluation grade grades
    grading jugement label labels nota note noten notes opinion output punkte puntuacion quality rated rating
    ratings reply response result review score scores stars sterne urteil valeur verdict verdicts vote votes wert
    avaliacao beoordeling betyg cijfer evaluacion notas ocena points pontuacao punkt punktzahl puntos valoracion
    valutazione punteggio voto votos wertung балл баллы оценка оцінка 分数 得分 評価 評点 评价 评分 打分 점수 평가
    beoordelingen beurteilung bedomning hodnoceni karakter note oceny oordeel oordelen puan vurdering vurderinger
    """
)
PEOPLE = _set(
    """
    annotateur annotator annotators anotador assessor bewerter bewerterin coder evaluador evaluateur evaluator
    expert experte experten expertin expertos experts grader graders gutachter gutachterin humain human humano
    humans labeler labeller mensch menschen menschlich people person pruefer prueferin rater raters reviewer
    reviewers
    avaliador avaliadora bedommer bedomare beoordelaar beoordelaars clovek człowiek ekspert ekspertka esperta esperto
    evaluadora evaluatrice experta expertes fachexperte granskare hodnotitel korrektor korrektorin lektor lektorin mens
    menselijk oceniajaca oceniający persona personas recenzent recenzentka relecteur relectrice revisor revisora
    revisore uzman valutatore valutatrice
    асессор оценщик разметчик человек эксперт эксперты
    专家 人工 标注员 评估员 评分人 评审员 審査員 専門家 評価者 평가자 전문가
    """
)
_UPPER, _LOWER = "A-ZÀ-ÖØ-Þ", "a-zß-öø-ÿ"
_CAMELS = (  # AIGrade, and AIgrade
    re.compile(rf"[{_UPPER}]+(?=[{_UPPER}][{_LOWER}])|[{_UPPER}]?[{_LOWER}]+|[{_UPPER}]+"),
    re.compile(rf"[{_UPPER}]{{2,}}|[{_UPPER}]?[{_LOWER}]+|[{_UPPER}]"),
)
_LETTERS = re.compile(r"[^\W\d_]+")
_TOKENS = re.compile(r"[^\W_]+")
_GIVEN = "|".join(sorted(RATINGS | {"judge"}, key=len, reverse=True))
_MADE_BY = "|".join(sorted(MACHINES | WEAK | {"claude"}, key=len, reverse=True))
_UNSPACED = "|".join(word for word in sorted(MACHINES | WEAK, key=len, reverse=True) if not word.isascii())
_JOINT = re.compile(rf"({_MADE_BY})(?:{_GIVEN})|(?:{_GIVEN})(gpt|llm|claude|ai|{_UNSPACED})")  # gptscore, llmjudge
_SHORT = 2  # letters of a word that may as well stand within an identifier such as A2KI8Q
_LONG = 5  # letters from which a word may be written apart: g-eval, exact match


def words(name: str) -> frozenset[str]:
    """The words of a head, in small letters without accents."""
    tokens = _TOKENS.findall(name)
    kept = {plain(token) for token in tokens if not token.isdecimal()}
    kept |= {both for pair in pairwise(tokens) if len(both := plain("".join(pair).casefold())) >= _LONG}
    for piece in _LETTERS.finditer(name):
        before, after = name[: piece.start()][-1:], name[piece.end() :]
        within = before.isdecimal() or re.match(r"\d+[^\W\d_]", after) is not None
        for camel in _CAMELS:
            parts = [piece[0], *camel.findall(piece[0])]
            kept |= {word for part in parts if len(word := plain(part.casefold())) > _SHORT or not within}
    return frozenset(kept - {""})


def machine_words(name: str) -> frozenset[str]:
    """The words of a head that no person has, ``gpt`` of ``gptscore`` among them."""
    own = words(name)
    joint = {found[1] or found[2] for word in own if (found := _JOINT.fullmatch(word))}
    return ((own | joint) & MACHINES) | {word for word in own if word.endswith(("gpt", "llm"))}
