package rules

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locket-dev/locket/internal/hans"
	"github.com/locket-dev/locket/internal/testing/perturb"
	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// TestTraditional says the Chinese lines of the test data in traditional characters: they give the
// same memories, in the characters of the speaker.
func TestTraditional(t *testing.T) {
	lists := variationLists(t)
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob("testdata/variations/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	times, err := filepath.Glob("testdata/times/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	said, same, silent, quiet := 0, 0, 0, 0
	for _, file := range append(append(files, more...), times...) {
		name := filepath.Base(file)
		if strings.Contains(name, "held") || strings.Contains(name, "frozen") || name == "lists.txt" {
			continue
		}
		for line := range lines(t, file) {
			line, _, _ = strings.Cut(vary(lists, line, 0), "\t")
			if !syntax.HasHan(line) {
				continue
			}
			written := perturb.Traditional(line)
			if written == line {
				continue
			}
			plain, other := hear(t, line), hear(t, written)
			a, _ := json.Marshal(plain.Candidates)
			b, _ := json.Marshal(other.Candidates)
			inScript(t, written, other)
			is := hans.Fold(string(a)) == hans.Fold(string(b))
			if len(plain.Candidates) == 0 {
				silent++
				if is {
					quiet++
				} else {
					t.Errorf("%s: %s", written, b)
				}
				continue
			}
			said++
			if is {
				same++
			} else {
				t.Errorf("%s:\n%s\n%s", written, a, b)
			}
		}
	}
	t.Logf("%d of %d lines give the same memories, %d of %d give nothing in either", same, said, quiet, silent)
}

// inScript checks that candidates have no character that the speaker wrote in the other script only.
func inScript(t *testing.T, said string, out *abi.Output) {
	t.Helper()
	folded := hans.Fold(said)
	for i := range out.Candidates {
		c := &out.Candidates[i]
		shown := []string{c.Text, c.Place, c.Object}
		if c.Slot != nil {
			shown = append(shown, c.Slot.Value)
		}
		for _, e := range c.Entities {
			shown = append(shown, e.Name)
		}
		for _, s := range append(shown, c.Steps...) {
			for _, r := range s {
				if !strings.ContainsRune(said, r) && strings.ContainsRune(folded, r) {
					t.Errorf("%s: %s has %c", said, s, r)
				}
			}
		}
	}
}

// What is proposed from a line in traditional characters has those characters, also where a part of it
// comes from an earlier turn or from the state.
func TestInOwnScript(t *testing.T) {
	for _, c := range []struct{ said, want string }{
		{"我對海鮮過敏", "Mei對海鮮過敏。"},
		{"我搬到臺北了", "Mei搬到臺北了。"},
		{"我老婆叫陳怡君", "Mei的老婆是陳怡君。"},
		{"下週三下午三點開會", "Mei下週三下午三點（2026年9月23日星期三 15:00）開會。"},
		{"提醒我買牛奶", "Mei得買牛奶。"},
		{"我坐捷運上班", "Mei坐捷運上班。"},
		{"我的腳踏車被偷了", "Mei的腳踏車被偷了。"},
		{"除夕去外婆家吃飯", "Mei除夕（2027年2月5日星期五）去外婆家吃飯。"},
		{"我農曆八月十五要回臺中", "Mei農曆八月十五要回臺中。"},
		{"我禮拜三下午兩點半看牙醫", "Mei禮拜三下午兩點半（2026年9月16日星期三 14:30）看牙醫。"},
		{"我28號下午兩點看牙醫", "Mei28號下午兩點（2026年9月28日星期一 14:00）看牙醫。"},
		{"鑰匙放在抽屜裡", "鑰匙放在抽屜裡。"},
		{"Tom: 你對什麼過敏？ / 花生。", "Mei對花生過敏。"},
		{"我週五下午三點跟陳醫生開會。 / 改到四點了。", "Mei的醫生改到2026年9月18日星期五 16:00。"},
		{"我週五下午三點跟陳醫生開會。 / 我的猫叫小黑。 / 改到四点了。", "Mei的醫生改到2026年9月18日星期五 16:00。"},
		{"我老婆叫陳怡君。 / 她對蝦過敏。", "Mei的老婆對蝦過敏。"},
		{"我老婆叫陳怡君。 / 她对虾过敏。", "Mei的老婆对虾过敏。"},
		{"我媽媽住在高雄", "Mei的媽媽住在高雄。"},
		{"Tom: 我在网上看到了。 / 我在網路公司當老師。", "Mei在網路公司當老師。"},
	} {
		out := hear(t, c.said)
		if len(out.Candidates) == 0 || out.Candidates[0].Text != c.want {
			t.Errorf("%s: %q %+v, want %s", c.said, keys(out), out.Candidates, c.want)
		}
	}
}
