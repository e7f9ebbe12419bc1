package recall

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
)

// words is a dictionary in CC-CEDICT's format, written for this test. None of its
// words is among the built-in pairs.
const words = "\ufeff# a comment\n" +
	"水獺 水獭 [shui3 ta3] /otter/CL:隻|只[zhi1]/\n" +
	"漏斗 漏斗 [lou4 dou3] /funnel (device)/\n" +
	"撐竿跳 撑竿跳 [cheng1 gan1 tiao4] /pole vault/\n" +
	"焊接 焊接 [han4 jie1] /to weld; welding/\n" +
	"焊 焊 [han4] /to weld/\n" +
	"卡拉OK 卡拉OK [ka3 la1 O K] /karaoke (loanword)/\n" +
	"大概 大概 [da4 gai4] /used in a sentence that is much too long to translate/\n" +
	"獺 獭 [ta3] /see 水獺|水獭[shui3 ta3]/\n"

func readWords(t *testing.T, s string) *Dictionary {
	t.Helper()
	d, err := ReadDictionary(strings.NewReader(s))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestReadDictionary(t *testing.T) {
	d := readWords(t, words)
	if en, zh := len(d.english.at), len(d.chinese.at); en != 4 || zh != 4 {
		t.Errorf("%d English terms, %d Chinese words", en, zh)
	}
	for term, want := range map[string][]string{lemma("otter"): {"水獭"}, lemma("pole") + " " + lemma("vault"): {"撑竿跳"}, lemma("weld"): {"焊接"}, "karaok": nil, "": nil, "zzz": nil} {
		if got := d.inChinese(term); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", term, got, want)
		}
	}
	if got := d.inEnglish("水獭"); !slices.Equal(got, []string{lemma("otter")}) {
		t.Errorf("otter: %q", got)
	}
	var none *Dictionary
	if none.inChinese("otter") != nil || none.inEnglish("水獭") != nil {
		t.Error("no dictionary knows a word")
	}
	for name, s := range map[string]string{
		"line 2": words[:strings.Index(words, "水")] + "otter = 水獭\n",
		"line 1": "水獭 /otter/\n",
		"line 3": "# a\n# b\n水獺 水獭 [ying1] /\xff/\n",
		"line 4": "#\n#\n#\n水獺 水獭 [ying1] /" + strings.Repeat("x", dictionaryLine) + "/\n",
		"no ent": "# nothing\n",
	} {
		if _, err := ReadDictionary(strings.NewReader(s)); !errors.Is(err, memory.ErrInvalid) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for says, s := range map[string]string{"pairs": "水獺 水獭 [y] /a" + strings.Repeat("/otter", 300) + "/\n", "64 MiB": "# " + strings.Repeat("x", 4000) + "\n"} {
		if d, err := ReadDictionary(&endless{s: s}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("without an end: %v, %v", d, err)
		}
	}
}

// endless repeats one line without end.
type endless struct {
	s  string
	at int
}

func (e *endless) Read(b []byte) (int, error) {
	n := copy(b, e.s[e.at:])
	e.at = (e.at + n) % len(e.s)
	return n, nil
}

// A dictionary finds in one language what was said in the other, in both directions, and also after
// the index was rebuilt.
func TestDictionaryFindsBetweenLanguages(t *testing.T) {
	lines := []string{"水獭又叫了一整夜", "她练撑竿跳三年了", "他在车间里焊接栏杆", "The funnel is under the sink.", "我们晚上去散步", "明天要开会", "They never came."}
	asked := map[string]int{"otter": 0, "Who does pole vault?": 1, "Who did the welding?": 2, "漏斗在哪里": 3}
	for _, d := range []*Dictionary{nil, readWords(t, words)} {
		x := openOn(t, newSegments(), Options{Dictionary: d})
		for i, l := range lines {
			if err := x.Add(Doc{ID: idOf(i + 1), Kind: Utterance, Session: string(rune('a' + i)), At: june.Add(time.Duration(i) * time.Hour), Order: uint64(i), Speaker: "刘洋", Text: l}); err != nil {
				t.Fatal(err)
			}
		}
		x.core, _ = x.core.rebuilt()
		for q, want := range asked {
			r := find(t, x, Query{Text: q, Now: june, K: 3})
			if got := len(r.Hits) > 0 && r.Hits[0].ID == idOf(want+1); got != (d != nil) {
				t.Errorf("dictionary %v: %s is found first: %v", d != nil, q, got)
			}
		}
	}
}
