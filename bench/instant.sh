#!/bin/sh
# A server that is up after so many seconds ($1, or at once), and answers at once from then on: it
# has said all it has to say within two milliseconds. The first request of a client is its
# initialize, with the id 1.

say() {
  printf 'Content-Length: %d\r\n\r\n%s' "${#1}" "$1"
}

[ -z "$1" ] || sleep "$1"
read -r _header
say '{"jsonrpc":"2.0","id":1,"result":{"chatWelcomeMessage":"Hello."}}'
say '{"jsonrpc":"2.0","method":"config/updated","params":{"chat":{"models":["bench/model"],"selectModel":"bench/model","agents":["code"],"selectAgent":"code"}}}'
exec cat >/dev/null
