# The API, the worker and the detector: `serve` (the default), `worker` or `detect`. A lock file names every installed file by hash.
# The build tools stay behind in the first stage.
FROM python:3.12-slim AS build
WORKDIR /build
COPY requirements-build.lock requirements-server.lock ./
RUN python -m venv /opt/build \
 && /opt/build/bin/pip install --no-cache-dir --require-hashes --only-binary=:all: -r requirements-build.lock \
 && python -m venv /opt/headwater \
 && /opt/headwater/bin/pip install --no-cache-dir --require-hashes --only-binary=:all: -r requirements-server.lock
COPY pyproject.toml README.md LICENSE NOTICE ./
COPY headwater headwater
RUN /opt/build/bin/python -m hatchling build --target wheel --directory dist \
 && /opt/headwater/bin/pip install --no-cache-dir --no-index --no-deps dist/headwater-*.whl \
 && /opt/headwater/bin/pip uninstall --yes pip

FROM python:3.12-slim
RUN groupadd --gid 10001 headwater \
 && useradd --uid 10001 --gid headwater --home-dir /var/lib/headwater --create-home --shell /usr/sbin/nologin headwater
COPY --from=build /opt/headwater /opt/headwater
ENV PATH=/opt/headwater/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    HEADWATER_HOME=/var/lib/headwater
USER headwater
VOLUME /var/lib/headwater
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s --retries=3 \
  CMD ["python", "-c", "import os, urllib.request as u; u.urlopen('http://127.0.0.1:' + os.environ.get('HEADWATER_PORT', '8000') + '/healthz', timeout=3)"]
ENTRYPOINT ["headwater"]
CMD ["serve"]
