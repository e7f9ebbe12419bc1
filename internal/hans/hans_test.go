package hans

import (
	"testing"
	"unicode/utf8"
)

func TestFold(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "tea": "tea", "我住在上海。": "我住在上海。", "我搬到臺北了": "我搬到台北了", "下週三下午三點開會": "下周三下午三点开会",
		"我對海鮮過敏, mostly": "我对海鲜过敏, mostly", "門禁密碼是4471": "门禁密码是4471", "妳的貓": "你的猫",
		// Some need the characters beside them, and those of simplified texts stay.
		"他坐著看書": "他坐着看书", "他是著名的醫生": "他是著名的医生", "他是著名的医生": "他是著名的医生", "這是甚麼": "这是什么", "瞭解了嗎": "了解了吗", "瞭望臺": "瞭望台",
		"乾隆": "乾隆", "張乾買餅乾": "张乾买饼干", "楊麗是我乾兒子的媽": "杨丽是我干儿子的妈", "衣服乾淨了": "衣服干净了", "慰藉": "慰藉", "他藉口開會": "他借口开会", "著": "著",
		"后來": "后来", "皇后": "皇后", "\xe9\x99": "\xe9\x99", "臺\xff著": "台\xff着",
	} {
		got := Fold(in)
		if got != want || Fold(got) != want || len(got) != len(in) {
			t.Errorf("Fold(%q) = %q, want %q", in, got, want)
		}
	}
}

// Every pair keeps the bytes of a text in their places, and folding twice changes nothing.
func TestTable(t *testing.T) {
	n := 0
	for r := rune(0); r <= utf8.MaxRune; r++ {
		s := Rune(r)
		if s == r {
			continue
		}
		n++
		if utf8.RuneLen(r) != 3 || utf8.RuneLen(s) != 3 || Rune(s) != s || !Has(string(r)) || Has(string(s)) {
			t.Errorf("%c is %c", r, s)
		}
	}
	if n < 2500 {
		t.Errorf("%d characters", n)
	}
	for in, want := range map[rune]rune{'臺': '台', '台': '台', '後': '后', '裡': '里', '裏': '里', '於': '于', '餘': '余', '陳': '陈', '乾': '乾', '只': '只', '著': '著', 'a': 'a'} {
		if Rune(in) != want {
			t.Errorf("%c is %c, want %c", in, Rune(in), want)
		}
	}
}

func TestRestore(t *testing.T) {
	for _, c := range []struct{ said, words, want string }{
		{"我老婆叫陳怡君", "Mei的老婆叫陈怡君", "Mei的老婆叫陳怡君"},
		{"我老婆叫陈怡君", "Mei的老婆叫陈怡君", "Mei的老婆叫陈怡君"},
		{"鑰匙在十里路的袋子裡", "十里路", "十里路"},
		{"鑰匙在十里路的袋子裡", "钥匙在袋子里", "鑰匙在袋子裡"},
		{"皇后後天來", "后天", "後天"},
		{"皇后後天來", "皇后", "皇后"},
		{"我對花生過敏", "严重过敏", "严重過敏"},
		{"", "过敏", "过敏"},
	} {
		var s Said
		s.Learn(c.said, Fold(c.said))
		if got := s.Restore(c.words); got != c.want {
			t.Errorf("%s of %s: %s, want %s", c.words, c.said, got, c.want)
		}
	}
}

func FuzzFold(f *testing.F) {
	f.Add("我搬到臺北了, 他坐著\xff")
	f.Fuzz(func(t *testing.T, text string) {
		folded := Fold(text)
		if len(folded) != len(text) || Has(folded) || Fold(folded) != folded {
			t.Fatalf("%q is %q", text, folded)
		}
		var s Said
		s.Learn(text, folded)
		if got := s.Restore(folded); utf8.ValidString(text) && len(got) != len(text) {
			t.Fatalf("%q is %q, restored %q", text, folded, got)
		}
	})
}

func BenchmarkFold(b *testing.B) {
	for name, text := range map[string]string{
		"simplified": "我上个月搬到了台北，明天中午跟林医生约了吃饭。", "traditional": "我上個月搬到了臺北，明天中午跟林醫生約了吃飯。",
		"english": "I moved to Shanghai last month, and I'm meeting Lin for lunch tomorrow at noon.",
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Fold(text)
			}
		})
	}
}
