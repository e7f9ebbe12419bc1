// Package pgtest runs a real PostgreSQL for tests: a cluster in a temporary
// folder, reachable only by a Unix socket in that folder, with a new database
// for each caller. If the tests run as root, the server runs as the user
// postgres, because PostgreSQL refuses to run as root. Without an installed
// PostgreSQL the tests fail; they are never skipped.
package pgtest
