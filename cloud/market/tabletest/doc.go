// Package tabletest provides a market's database to tests, in SQLite, and in a PostgreSQL that they
// start.
package tabletest
