# docker build -t treeml . ; docker run --rm -v "$PWD":/work treeml solve spec.tml
# The first stage has a compiler and builds the wheel; the second has Python and the wheel.
FROM python:3.13-slim-bookworm AS build
SHELL ["/bin/bash", "-o", "pipefail", "-c"]
# hadolint ignore=DL3008
RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY . .
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.13-slim-bookworm
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir /wheels/*.whl && useradd --create-home --uid 10001 treeml
USER 10001
WORKDIR /work
ENTRYPOINT ["treeml"]
CMD ["--help"]
