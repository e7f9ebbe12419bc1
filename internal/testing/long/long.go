// Package long makes tests run for longer than CI has time for.
package long

import (
	"os"
	"strconv"
	"testing"
)

// Kills returns how often a test kills a process: KILLS from the environment, or else the number
// for CI.
func Kills(t testing.TB, otherwise int) int {
	t.Helper()
	text := os.Getenv("KILLS")
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("KILLS=%q: want a number above 0", text)
	}
	return n
}
