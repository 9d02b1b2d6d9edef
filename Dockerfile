# docker build --target service -t svddtune-service .
# docker build --target worker -t svddtune-worker .
FROM python:3.12-slim AS build
WORKDIR /src
# Each image has what its process needs and no more, so pip stays in an environment of its own.
RUN python -m venv /opt/pip \
    && /opt/pip/bin/pip install --no-cache-dir "pip>=25.1" \
    && python -m venv --without-pip /opt/svddtune
ENV PATH=/opt/pip/bin:$PATH PIP_PYTHON=/opt/svddtune/bin/python \
    PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
COPY pyproject.toml constraints.txt README.md CHANGELOG.md LICENSE ./
COPY protos protos
COPY service service
COPY worker worker
COPY client/pyproject.toml client/hatch_build.py client/README.md client/LICENSE client/
COPY client/svddtune client/svddtune
COPY deploy/slim.py deploy/

FROM build AS build-service
RUN pip install -c constraints.txt ./client --group service \
    && pip install --no-deps . \
    && python deploy/slim.py /opt/svddtune svddtune.service

# A worker speaks no gRPC, so it gets the client's modules without the client's packages.
FROM build AS build-worker
RUN pip install -c constraints.txt --group worker \
    && pip install --no-deps ./client . \
    && python deploy/slim.py /opt/svddtune svddtune.worker

FROM python:3.12-slim AS base
# The folders are for volumes: rows of large datasets, and workers' copies of them. Beside them only
# /tmp is written to.
RUN useradd --uid 10001 --no-create-home --home-dir /tmp svddtune \
    && install -d -o svddtune -g svddtune /var/lib/svddtune /var/cache/svddtune
USER 10001:10001
ENV PATH=/opt/svddtune/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 \
    SVDDTUNE_LOG_FORMAT=json

FROM base AS worker
COPY --from=build-worker /opt/svddtune /opt/svddtune
# SVDDTUNE_REDIS=rediss://... names the server.
ENV SVDDTUNE_ALIVE_FILE=/tmp/svddtune-alive
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=3 \
    CMD find "$SVDDTUNE_ALIVE_FILE" -newermt "-15 seconds" | grep -q .
ENTRYPOINT ["python", "-m", "svddtune.worker"]

FROM base AS service
COPY --from=build-service /opt/svddtune /opt/svddtune
# gRPC, and JSON over HTTP.
EXPOSE 50051 50080
# Any address but loopback needs SVDDTUNE_TLS_CERT, SVDDTUNE_TLS_KEY and an identity provider, as
# SVDDTUNE_TOKENS, or SVDDTUNE_INSECURE=true.
ENV SVDDTUNE_LISTEN=0.0.0.0:50051 SVDDTUNE_HTTP_LISTEN=0.0.0.0:50080
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=3 \
    CMD ["python", "-m", "svddtune.service.probe"]
ENTRYPOINT ["python", "-m", "svddtune.service"]
