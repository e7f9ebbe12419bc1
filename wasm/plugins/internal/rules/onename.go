package rules

import (
	"strings"

	"github.com/locket-dev/locket/wasm/abi"
)

// oneName has the words for one and the same relative, with the one that stands in a slot: "my mum
// lives in Graz" and "my mother moved to Linz" are of one person. Grandparents are two pairs, whom
// families often tell apart by such words.
var oneName = map[string]string{
	"mum": "mother", "mom": "mother", "mummy": "mother", "mommy": "mother", "mama": "mother",
	"dad": "father", "daddy": "father", "papa": "father",
	"妈": "妈妈", "母亲": "妈妈", "老妈": "妈妈", "媽媽": "妈妈", "爸": "爸爸", "父亲": "爸爸", "老爸": "爸爸",
	"妻子": "老婆", "太太": "老婆", "媳妇": "老婆", "丈夫": "老公", "先生": "老公", "闺女": "女儿", "娃": "孩子",
}

// withOneName puts these words in the slot of a candidate.
func withOneName(s *abi.Slot) {
	if to := oneName[s.Attribute]; to != "" {
		s.Attribute = to
	}
	for _, of := range [...]string{"'s ", "的"} {
		if !strings.Contains(s.Subject, of) {
			continue
		}
		parts := strings.Split(s.Subject, of)
		for i := range parts {
			if to := oneName[parts[i]]; i > 0 && to != "" {
				parts[i] = to
			}
		}
		s.Subject = strings.Join(parts, of)
	}
}
