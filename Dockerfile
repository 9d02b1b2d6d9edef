# docker build --target service -t svddtune-service .
# docker build --target worker -t svddtune-worker .
FROM python:3.12-slim AS build
WORKDIR /src
RUN python -m venv /opt/svddtune
ENV PATH=/opt/svddtune/bin:$PATH PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
# Each image has what its process needs and no more: the group, then the package by itself.
RUN pip install "pip>=25.1"
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY protos protos
COPY service service
COPY worker worker
COPY client client

FROM build AS build-service
RUN pip install -c constraints.txt --group service && pip install --no-deps .

FROM build AS build-worker
RUN pip install -c constraints.txt --group worker && pip install --no-deps .

FROM python:3.12-slim AS base
RUN useradd --create-home --uid 10001 svddtune
USER svddtune
ENV PATH=/opt/svddtune/bin:$PATH PYTHONUNBUFFERED=1 SVDDTUNE_LOG_FORMAT=json

FROM base AS worker
COPY --from=build-worker /opt/svddtune /opt/svddtune
# SVDDTUNE_REDIS=rediss://... names the server.
ENTRYPOINT ["python", "-m", "svddtune.worker"]

FROM base AS service
COPY --from=build-service /opt/svddtune /opt/svddtune
EXPOSE 50051
# Any address but loopback needs SVDDTUNE_TLS_CERT and SVDDTUNE_TLS_KEY, or SVDDTUNE_INSECURE=true.
ENV SVDDTUNE_LISTEN=0.0.0.0:50051
ENTRYPOINT ["python", "-m", "svddtune.service"]
