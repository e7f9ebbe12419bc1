package main

import (
	"bufio"
	"cmp"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/plugins/syntax"
)

// most words that the dictionary has: two in three of its places.
const most = 1 << syntax.WordBits * 2 / 3

// writeWords makes the dictionary of lines "word frequency class".
func writeWords(from, to string) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	type word struct {
		text, class string
		often       int
	}
	var list []word
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		col := strings.Fields(lines.Text())
		if len(col) != 3 || utf8.RuneCountInString(col[0]) > 4 || strings.ContainsFunc(col[0], func(r rune) bool { return !unicode.Is(unicode.Han, r) }) {
			continue
		}
		often, err := strconv.Atoi(col[1])
		if err != nil {
			return err
		}
		list = append(list, word{col[0], col[2], often})
	}
	if err := lines.Err(); err != nil {
		return err
	}
	slices.SortFunc(list, func(a, b word) int { return cmp.Or(b.often-a.often, strings.Compare(a.text, b.text)) })
	list = list[:min(most, len(list))]
	table := make([]byte, 3<<syntax.WordBits)
	classes := map[string]byte{}
	for _, w := range list {
		if classes[w.class] == 0 {
			classes[w.class] = byte(len(classes) + 1)
		}
		at, check := syntax.WordPlace(w.text)
		for table[3*at+2] != 0 {
			at = (at + 1) % (1 << syntax.WordBits)
		}
		table[3*at], table[3*at+1], table[3*at+2] = byte(check), byte(check>>8), classes[w.class]
	}
	return os.WriteFile(to, table, 0o644)
}
