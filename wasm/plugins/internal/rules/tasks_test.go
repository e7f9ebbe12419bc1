package rules

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// texts returns the texts of the extractors' candidates for a text by Tom on Monday, 21 September
// 2026.
func texts(text string) []string {
	var all []string
	for _, c := range allOf(text).Candidates {
		all = append(all, c.Text)
	}
	return all
}

func allOf(text string) *abi.Output {
	return all(&abi.Event{ID: "x", At: 1790000000000, Offset: 3600, Speaker: "Tom", Wearer: "Tom", Text: text})
}

func TestTasks(t *testing.T) {
	for text, want := range map[string][]string{
		"- [ ] Call the dentist tomorrow\n- [x] Pay the rent\n* [ ] Renew my passport": {
			"Tom has to call the dentist tomorrow (Tuesday 22 September 2026).", "Tom has to renew Tom's passport."},
		// As people write above a list; such lines contain no tasks themselves.
		"TODO:\n- Pick up Anna at 5pm\n- My brother lives in Oslo\nFeed the cat": {
			"Tom has to pick up Anna at 5pm (Monday 21 September 2026, 17:00).", "Tom's brother lives in Oslo."},
		"# To do tomorrow\n1) Fix the tap; buy a washer": {
			"Tom has to fix the tap tomorrow (Tuesday 22 September 2026).", "Tom has to buy a washer tomorrow (Tuesday 22 September 2026)."},
		"明天要做的：\n- 给妈妈打电话\n- [x] 交房租": {"Tom得明天（2026年9月22日星期二）给妈妈打电话。"},
		"☐ 去银行": {"Tom得去银行。"},
		"☑ Pay the rent on Friday\n- [ ] Did Anna call?\n- [ ] eggs\n- [ ] 牛奶\n- [ ] Paid the rent": nil,
		"1) Call mum on Friday\n2) Buy a cake":                    {"Tom has to call mum on Friday (Friday 25 September 2026).", "Tom has to buy a cake."},
		"1. Boil the water\n2. Add the tea\n3. Wait four minutes": {"How to boil the water: Boil the water; Add the tea; Wait four minutes."},
		"Tasks are what I like":                                   nil,
	} {
		got := texts(text)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%q gives %q, want %q", text, got, want)
		}
	}
	if refused := allOf("- [x] Pay the rent").Refusals; len(refused) != 1 || refused[0].Kind != "done" {
		t.Errorf("a task that is ticked: %+v", refused)
	}
}

// The mark of a list does not change what a line says.
func TestMarksBefore(t *testing.T) {
	b, err := os.ReadFile("testdata/daily.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		said, _, _ := strings.Cut(line, "\t")
		if strings.HasPrefix(said, "#") {
			continue
		}
		want := texts(said)
		for _, mark := range []string{"- ", "* ", "• ", "— ", "> ", "😀 ", ", "} {
			if got := texts(mark + said); !slices.Equal(got, want) {
				t.Errorf("%q gives %q, and without its mark %q", mark+said, got, want)
			}
		}
	}
	for said, want := range map[string]string{"I'm allergic to nuts 😀": "Tom is allergic to nuts.", "我对花生过敏😭😭": "Tom对花生过敏。", "My sister lives in Rome 👩🏽‍🚀❤️! Good.": "Tom's sister lives in Rome."} {
		if got := texts(said); len(got) != 1 || got[0] != want {
			t.Errorf("%q gives %q", said, got)
		}
	}
	for _, said := range []string{"- I need to buy it tomorrow.", ", , I have to fix it on Friday.", "、我周末去看她。"} {
		if len(texts(said)) != 1 {
			t.Errorf("%q gives %q", said, texts(said))
		}
	}
	for said, want := range map[string]int{"-5 degrees": 0, "#42 is mine": 0, "+49 170": 0, "“Hi”": 0, "- x": 1, "# x": 1, "[ ] x": 2, "1) x": 2, "- [ ] 12": 3, "…": 1} {
		if got := syntax.MarksBefore(syntax.Lex(said)); got != want {
			t.Errorf("%q: %d, want %d", said, got, want)
		}
	}
}
