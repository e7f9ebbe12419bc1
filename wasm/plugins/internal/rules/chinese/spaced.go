package chinese

import (
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// Spaced puts a comma for each space of a Chinese text that has no other marks, where recognisers write a space between
// clauses: 奶茶三分糖 我一直都喝这个. Those that write one between words have shorter pieces. Offsets stay.
func Spaced(text string) string {
	const least = 3 // characters that the pieces have on average
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
