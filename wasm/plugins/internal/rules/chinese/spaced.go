package chinese

import (
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// Spaced replaces each space of a Chinese text without other marks by a comma, because speech
// recognition writes a space between clauses: 奶茶三分糖 我一直都喝这个. If it writes spaces between words, the
// pieces are shorter. Offsets do not change.
func Spaced(text string) string {
	const least = 3 // least average number of characters of the pieces
	if first, _ := utf8.DecodeRuneInString(text); !syntax.IsHan(first) || !strings.Contains(text, " ") || strings.ContainsAny(text, "，,、；：") {
		return text
	}
	parts := strings.Split(strings.TrimRight(text, "。！？!?. "), " ")
	if len(parts) < 2 {
		return text
	}
	n := 0
	for _, part := range parts {
		last, _ := utf8.DecodeLastRuneInString(part)
		if first, _ := utf8.DecodeRuneInString(part); !syntax.IsHan(first) || !syntax.IsHan(last) {
			return text
		}
		n += utf8.RuneCountInString(part)
	}
	if n < least*len(parts) {
		return text
	}
	at := len(strings.Join(parts, " "))
	return strings.ReplaceAll(text[:at], " ", ",") + text[at:]
}
