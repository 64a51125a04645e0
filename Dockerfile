# docker build -t judgec . && docker run --rm --user "$(id -u)" -v "$PWD:/work" -e OPENAI_API_KEY judgec labels labels.jsonl
FROM python:3.11-slim AS build
WORKDIR /build
COPY requirements.lock ./
RUN python -m venv /opt/judgec \
 && /opt/judgec/bin/python -m pip install --quiet --no-cache-dir --require-hashes -r requirements.lock
COPY pyproject.toml setup.py MANIFEST.in README.md LICENSE ./
COPY src src
COPY trainsets trainsets
COPY docs/notebooks docs/notebooks
RUN /opt/judgec/bin/python -m pip install --quiet --no-cache-dir --no-deps --no-build-isolation .

FROM python:3.11-slim
RUN useradd --create-home --uid 1000 judgec && install --directory --owner=1000 --group=1000 /work
COPY --from=build /opt/judgec /opt/judgec
ENV PATH=/opt/judgec/bin:$PATH
USER 1000
WORKDIR /work
ENTRYPOINT ["judgec"]
CMD ["--help"]
