// Package pgtest runs a real PostgreSQL for tests: a cluster of its own in a
// temporary folder, reached by a Unix socket there and nowhere else, with a
// fresh database for whoever asks. Where the tests run as root it runs as the
// user postgres, since it refuses root. A machine without PostgreSQL fails the
// tests; they are never passed over.
package pgtest
