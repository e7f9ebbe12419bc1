// Command table writes the table of package hans from OpenCC's TSCharacters.txt, whose path is its
// argument. In that file a line is a traditional character, a tab, and its simplified forms, the
// usual one first.
//
//	go run ./internal/hans/table TSCharacters.txt
package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode/utf8"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: table TSCharacters.txt")
		os.Exit(2)
	}
	if err := write(os.Args[1], "internal/hans/table.bin"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func write(from, to string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return fmt.Errorf("read the characters: %w", err)
	}
	return os.WriteFile(to, pack(pairs(string(b))), 0o644)
}

// pairs returns the simplified form of each traditional character. Both are from U+4E00 to U+9FFF,
// where a character has three bytes. A character whose form is a traditional one of another (薴 is
// 苧, and 苧 is 苎) is left out, so that folding twice changes nothing, and so is 乾, by which people
// are named in simplified texts, too.
func pairs(text string) map[rune]rune {
	m := map[rune]rune{}
	for line := range strings.Lines(text) {
		from, forms, _ := strings.Cut(strings.TrimSpace(line), "\t")
		to, _, _ := strings.Cut(forms, " ")
		if from != to && from != "乾" && plain(from) && plain(to) {
			r, _ := utf8.DecodeRuneInString(from)
			m[r], _ = utf8.DecodeRuneInString(to)
		}
	}
	out := map[rune]rune{}
	for r, s := range m {
		if _, traditional := m[s]; !traditional {
			out[r] = s
		}
	}
	return out
}

// plain reports whether a text is one character from U+4E00 to U+9FFF.
func plain(s string) bool {
	r, n := utf8.DecodeRuneInString(s)
	return n == len(s) && r >= 0x4e00 && r <= 0x9fff
}

func pack(m map[rune]rune) []byte {
	all := make([]rune, 0, len(m))
	for r := range m {
		all = append(all, r)
	}
	slices.Sort(all)
	var out []byte
	at := rune(0x4e00)
	for _, r := range all {
		out = binary.AppendUvarint(out, uint64(r-at))
		out = binary.BigEndian.AppendUint16(out, uint16(m[r]))
		at = r
	}
	return out
}
