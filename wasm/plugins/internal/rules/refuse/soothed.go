package refuse

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// Soothing are the words of "don't worry", "leave it with me" and "hold on a second".
var Soothing = syntax.Set("let leave it with to me don't worry wait hold on a second sec minute moment listen hang trust relax forget never mind that look no problem sure fine ok okay all right not")

// Soothed returns a sentence without such words and the comma after them, if the speaker continues
// with what they do: "don't worry, I'll have it on your desk by Monday", 放心，我周一交.
func Soothed(s syntax.Sentence) syntax.Sentence {
	if s.Chinese() {
		for k := 1; k < min(len(s.Toks)-2, 7); k++ {
			if s.At(k) == "，" || s.At(k) == "," {
				switch strings.TrimRight(s.Text[s.Start:s.Toks[k].Start], "吧了啊哈") {
				case "放心", "别担心", "别急", "别着急", "交给我", "等等", "等一下", "没问题", "没事", "别慌":
					return s.Sub(k+1, len(s.Toks))
				}
				break
			}
		}
		return s
	}
	if next := s.At(1); s.At(0) == "no" && (next == "ta" || next == "thanks") && len(s.Toks) > 4 {
		if base, _ := syntax.Contraction(s.At(2)); base == "i" || base == "we" {
			return s.Sub(2, len(s.Toks)) // "no thanks I've given up sugar"
		}
	}
	k := 0
	for k < min(len(s.Toks), 7) && Soothing[s.At(k)] {
		k++
	}
	if base, _ := syntax.Contraction(s.At(k + 1)); k > 0 && s.At(k) == "," && (base == "i" || base == "we" || base == "my") && k+4 < len(s.Toks) && (k > 1 || s.At(0) != "no") {
		return s.Sub(k+1, len(s.Toks))
	}
	return s
}
