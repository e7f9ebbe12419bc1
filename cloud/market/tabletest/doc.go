// Package tabletest gives tests of a market its database in SQLite, and in a
// PostgreSQL that they start.
package tabletest
