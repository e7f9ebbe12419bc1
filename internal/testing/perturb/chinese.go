package perturb

import (
	"strings"
	"sync"

	"github.com/locket-dev/locket/internal/hans"
)

// Chinese returns ways that change only Chinese questions: slips of people who type by sound, and
// traditional characters.
func Chinese() []Way { return chinese }

var chinese = []Way{
	{"得 for 的", strings.NewReplacer("的", "得").Replace},
	{"在 and 再 mixed up", strings.NewReplacer("在", "再", "再", "在").Replace},
	{"做 and 作 mixed up", strings.NewReplacer("做", "作", "作", "做").Replace},
	{"哪 as 那", strings.NewReplacer("哪", "那").Replace},
	{"without 了", strings.NewReplacer("了", "").Replace},
	{"traditional characters", Traditional},
}

// usual are the traditional characters that are used most where one simplified character stands for
// several.
const usual = "後裡臺幹發鐘獲復麵鬥飢歷製準註髒臟壞線"

var traditional = sync.OnceValue(func() *strings.Replacer {
	pairs := []string{"着", "著"}
	for _, r := range usual {
		pairs = append(pairs, string(hans.Rune(r)), string(r))
	}
	for r := rune(0x4e00); r <= 0x9fff; r++ {
		if s := hans.Rune(r); s != r && !strings.ContainsRune("你它他", s) { // 妳, 牠 and 祂 say more
			pairs = append(pairs, string(s), string(r))
		}
	}
	return strings.NewReplacer(pairs...)
})

// Traditional writes simplified Chinese in traditional characters, each by itself.
func Traditional(s string) string { return traditional().Replace(s) }
