package demo

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// teller prints each step in one of two ways.
type teller struct {
	out  io.Writer
	json bool
	n    int
}

// step prints one step: as an object with its name, or as a heading and lines.
func (t *teller) step(name, heading string, v any, lines ...string) error {
	if t.json {
		b, err := json.Marshal(v)
		if err != nil {
			return fmt.Errorf("demo: %w", err)
		}
		_, err = fmt.Fprintf(t.out, `{"step":%q,%s`+"\n", name, strings.TrimPrefix(string(b), "{"))
		return err
	}
	t.n++
	_, err := fmt.Fprintf(t.out, "%d. %s\n", t.n, heading)
	for _, l := range lines {
		if err == nil {
			_, err = fmt.Fprintf(t.out, "   %s\n", l)
		}
	}
	if err == nil {
		_, err = fmt.Fprintln(t.out)
	}
	return err
}

// plural is "1 photo", "2 photos".
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// short cuts text to about n characters.
func short(s string, n int) string {
	r := []rune(strings.ReplaceAll(s, "\n", " "))
	if len(r) <= n {
		return string(r)
	}
	return strings.TrimSpace(string(r[:n-1])) + "…"
}
