# The service with its pages, for docker or podman: docker compose up (compose.yaml), or by itself
#   docker build --tag policy-engine . && docker run --publish 127.0.0.1:8642:8642 --volume data:/data policy-engine
# docs/service.md says what to set.

# Node comes as a Python package, as it does in a clone.
FROM python:3.13-slim-bookworm AS pages
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY policy_engine/__init__.py policy_engine/
COPY scripts/build-pages scripts/environment.py scripts/python scripts/start.py scripts/
COPY console console
RUN scripts/build-pages

FROM python:3.13-slim-bookworm AS wheel
WORKDIR /source
RUN python -m pip install --no-cache-dir build
COPY pyproject.toml README.md LICENSE CHANGELOG.md ./
COPY vocab vocab
COPY policies policies
COPY policy_engine policy_engine
COPY --from=pages /source/policy_engine/service/pages policy_engine/service/pages
RUN python -m build --wheel --outdir /wheels

FROM python:3.13-slim-bookworm
COPY --from=wheel /wheels /wheels
RUN python -m pip install --no-cache-dir "$(echo /wheels/*.whl)[service]" && rm -r /wheels \
    && useradd --system --uid 10001 --no-create-home policy-engine \
    && install --directory --owner policy-engine --mode 700 /data
ENV PYTHONUNBUFFERED=1 OMP_NUM_THREADS=1
USER policy-engine
VOLUME /data
EXPOSE 8642
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 CMD ["python", "-c", \
    "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8642/readyz', timeout=4)"]
ENTRYPOINT ["policy-engine", "serve", "--folder", "/data", "--host", "0.0.0.0"]
CMD ["--public-url", "http://127.0.0.1:8642"]
