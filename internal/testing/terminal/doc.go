// Package terminal gives tests a terminal, on Linux alone.
package terminal
