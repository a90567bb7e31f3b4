# docker build -t holoscope . && docker run -p 127.0.0.1:8080:8080 -v holoscope:/data holoscope
FROM debian:12-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends make dpkg && rm -rf /var/lib/apt/lists/*
COPY deploy/install-deps.sh /src/deploy/install-deps.sh
RUN /src/deploy/install-deps.sh --run-only
WORKDIR /src
COPY . .
RUN make holoscope

FROM debian:12-slim
# The libraries the program is linked with; libisal2 is there on amd64 and arm64 only.
RUN apt-get update \
    && apt-get install -y --no-install-recommends libmicrohttpd12 libjansson4 zlib1g libsqlite3-0 libarchive13 \
       libxxhash0 libsodium23 libpcre2-8-0 libisal2 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin holoscope \
    && install -d -o 10001 -g 10001 /data
COPY --from=build /src/holoscope /usr/local/bin/holoscope
COPY --from=build /src/config.example.toml /usr/local/share/doc/holoscope/config.example.toml
USER 10001
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
# Inside a container loopback is nobody; publish the port to loopback only, or behind a proxy with authentication.
ENTRYPOINT ["holoscope"]
CMD ["serve", "--listen", "0.0.0.0:8080", "--data", "/data"]
