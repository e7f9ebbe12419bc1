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
	"github.com/locket-dev/locket/cmd/locket/devicecmd"
	"github.com/locket-dev/locket/memory"
)

// person answers what is asked on standard error.
type person struct {
	asked   bytes.Buffer
	answers *io.PipeWriter
	reply   func(word int) string
}

var wordAsked = regexp.MustCompile(`Word (\d+): $`)

func (p *person) Write(b []byte) (int, error) {
	p.asked.Write(b)
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

// word gives one of the phrase that was made last; the first is 1.
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
		"never right":      {func(int, int) string { return "hm" }, cli.ExitFailed, "24 "},
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
			if code := run(t.Context(), args, r, &out, p, d); code != c.code || !strings.Contains(out.String(), c.says) {
				t.Fatalf("exit %d after\n%s", code, out.String())
			}
		})
	}
}

// A text from outside can't steer the terminal.
func TestOneLine(t *testing.T) {
	for in, want := range map[string]string{
		"plain text":              "plain text",
		"two\nlines\tand\r":       "two lines and",
		"\x1b[31mred\x1b]0;x\x07": "[31mred]0;x",
		"\u202eesrever":           "esrever",
		"搬到上海了":                   "搬到上海了",
		"\u009b2J":                "2J",
	} {
		if got := cli.OneLine(in); got != want {
			t.Errorf("%q is shown as %q, want %q", in, got, want)
		}
	}
}

func TestColourOnlyOnATerminal(t *testing.T) {
	if cli.NewPainter(&bytes.Buffer{}, nil).On {
		t.Error("a buffer is painted")
	}
	if got := (cli.Painter{On: true}).Bold("x"); got != "\x1b[1mx\x1b[0m" {
		t.Errorf("%q", got)
	}
}

func TestSizesAndCounts(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1.0 kB", 1_234_567: "1.2 MB", 5e15: "5000.0 TB"} {
		if got := cli.Size(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
	if got := cli.Plural(1, "memory", "memories") + cli.Plural(0, "memory", "memories"); got != "1 memory0 memories" {
		t.Error(got)
	}
	if got := len(cli.ShortID(memory.ID{1})); got != 10 {
		t.Error(got)
	}
}

// What a plugin logs, or its publisher writes, does not reach the terminal as
// anything but a line of text.
func TestOneLineOfAStranger(t *testing.T) {
	for in, want := range map[string]string{
		"\x1b[2J\x1b]0;title\x07gone":   "[2J]0;titlegone",
		"a\r\nb\tc":                     "a b c",
		"evil\u202egnp.exe\u2066\u009b": "evilgnp.exe",
		"naïve 我":                       "naïve 我",
	} {
		if got := cli.OneLine(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

// Who sits between two devices that pair chooses a name: what a person compares
// is shown as it is beside any.
func TestThreatSwappedKeysAtPairingByTheName(t *testing.T) {
	words := []string{"one", "two", "three", "four", "five"}
	for name, line := range map[string]string{
		"Mina's phone": "The other device calls itself \"Mina's phone\".\n",
		"\x1b[8m":      "The other device calls itself \"[8m\".\n",
		"phone\".\n\n  other  words  stand  here  now\n\x1b[8m": "The other device calls itself \"phone\\\". other words stand here now [8m\".\n",
		"phone" + strings.Repeat(" ", 70) + "other":             "The other device calls itself \"phone other\".\n",
		"\u009b2J\u202e": "The other device calls itself \"2J\".\n",
		"\r\x1b":         "",
	} {
		var out bytes.Buffer
		devicecmd.ShowWords(&out, words, name)
		if want := line + "\n  one  two  three  four  five\n\n"; out.String() != want {
			t.Errorf("%q is shown as %q, want %q", name, out.String(), want)
		}
	}
}
