package main

import (
	"bytes"
	"io"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/locket-dev/locket/cmd/locket/cli"
)

// person answers the prompts on standard error.
type person struct {
	asked   bytes.Buffer // since the last prompt
	said    bytes.Buffer
	answers *io.PipeWriter
	reply   func(word int) string
}

var wordAsked = regexp.MustCompile(`Word (\d+): $`)

func (p *person) Write(b []byte) (int, error) {
	p.asked.Write(b)
	p.said.Write(b)
	if m := wordAsked.FindSubmatch(p.asked.Bytes()); m != nil {
		n, err := strconv.Atoi(string(m[1]))
		if err != nil {
			return 0, err
		}
		p.asked.Reset()
		go io.WriteString(p.answers, p.reply(n)+"\n")
	}
	return len(b), nil
}

// word returns a word of the phrase that was made last. The first is 1.
func word(n int) string { return strings.Fields(madePhrase)[n-1] }

// The words are asked for, and a second try is given.
func TestInitChecksTheWords(t *testing.T) {
	for name, c := range map[string]struct {
		reply func(ask, word int) string
		code  int
		says  string
	}{
		"right":            {func(_, w int) string { return " " + strings.ToUpper(word(w)) }, cli.ExitDone, "The node is ready"},
		"right at the 2nd": {func(n, w int) string { return map[bool]string{true: "hm", false: word(w)}[n == 1] }, cli.ExitDone, "The node is ready"},
		"never right":      {func(int, int) string { return "hm" }, cli.ExitFailed, "  24 "},
	} {
		t.Run(name, func(t *testing.T) {
			r, w := io.Pipe()
			defer w.Close()
			asks := 0
			p := &person{answers: w, reply: func(word int) string { asks++; return c.reply(asks, word) }}
			var out bytes.Buffer
			d := testDeps()
			d.Environ = cheapHome
			args := []string{"init", "--key-file", "--home", filepath.Join(t.TempDir(), "home")}
			if code := run(t.Context(), args, r, &out, p, d); code != c.code || !strings.Contains(out.String()+p.said.String(), c.says) {
				t.Fatalf("exit %d after\n%s%s", code, p.said.String(), out.String())
			}
			if strings.Contains(out.String(), "  24 ") { // it may be a file
				t.Errorf("the words are on standard output:\n%s", out.String())
			}
		})
	}
}
