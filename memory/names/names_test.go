package names

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestFold(t *testing.T) {
	for in, want := range map[string]string{
		"  Ana  Silva ": "ana silva", "JOSÉ": "jose", "O'Brien": "obrien", "Jean-Luc": "jean luc", "张伟": "张伟", "張偉": "张伟", "Ｔｏｍ": "tom",
		"Müller": "muller", "Zoe\u0308": "zoe", "Cafe\u0301": "cafe", "Zhāng Wěi": "zhang wei", "": "", "!?": "", strings.Repeat("x", MaxName+1): "", strings.Repeat("x", MaxName): strings.Repeat("x", MaxName),
	} {
		if got := Fold(in); got != want {
			t.Errorf("Fold(%q) = %q, want %q", in, got, want)
		}
	}
}

// Names in one row are the same name; those in different rows are not.
func TestKeysOfEqualNames(t *testing.T) {
	rows := [][]string{
		{"张伟", "Zhang Wei", "Wei Zhang", "ZHANG WEI", "zhang-wei", "Zhāng Wěi"},
		{"陳怡君", "陈怡君", "Chen Yijun"},
		{"张乾", "張乾", "Zhang Qian"},
		{"李晓明", "李曉明", "Li Xiaoming", "Xiaoming Li", "Li Xiao Ming", "Xiao Ming Li"},
		{"欧阳娜", "Ouyang Na", "Na Ouyang"},
		{"吕丽", "Lü Li", "Lu Li"},
		{"Ana Silva", "ana silva", "Silva Ana"},
		{"José", "Jose"},
		{"王芳", "Wang Fang"},
	}
	meet := func(a, b string) bool {
		other := Keys(Fold(b))
		return slices.ContainsFunc(Keys(Fold(a)), func(k string) bool { return slices.Contains(other, k) })
	}
	for i, a := range rows {
		for j, b := range rows {
			for _, x := range a {
				for _, y := range b {
					if meet(x, y) != (i == j) {
						t.Errorf("%s and %s meet: %v", x, y, i != j)
					}
				}
			}
		}
	}
	if meet("北京", "张伟") || !meet("张威", "张伟") {
		t.Error("who may be meant is wrong")
	}
}

func TestPinyinTable(t *testing.T) {
	if n := len(table()); n < 900 {
		t.Fatalf("%d characters", n)
	}
	for r, s := range table() {
		if !unicode.Is(unicode.Han, r) || strings.Trim(s, "abcdefghijklmnopqrstuvwxyz") != "" || s == "" {
			t.Errorf("%c: %q", r, s)
		}
	}
	if Pinyin('龘') != "" || Pinyin('a') != "" {
		t.Error("a syllable for what has none")
	}
}

func TestLetterTables(t *testing.T) {
	if a, p := utf8.RuneCountInString(accented), len(plain); a != p {
		t.Fatalf("%d accented letters, %d plain ones", a, p)
	}
}

func FuzzFold(f *testing.F) {
	f.Add("Zhāng Wěi")
	f.Add("张伟 \xff O'Neil")
	f.Add("00 \u034f") // a mark alone
	f.Fuzz(func(t *testing.T, s string) {
		once := Fold(s)
		if Fold(once) != once {
			t.Errorf("%q folds to %q, and that to %q", s, once, Fold(once))
		}
		if len(once) > MaxName {
			t.Errorf("%q is longer than a name", once)
		}
		for _, k := range Keys(once) {
			if k == "" || strings.Contains(k, " ") {
				t.Errorf("%q has the key %q", s, k)
			}
		}
	})
}

func TestReadings(t *testing.T) {
	has := func(letters, name string) bool {
		r := []rune(name)
		for _, way := range Readings(letters) {
			if len(way) != len(r) {
				continue
			}
			ok := true
			for i := range r {
				ok = ok && slices.Contains(way[i], r[i])
			}
			if ok {
				return true
			}
		}
		return false
	}
	for letters, name := range map[string]string{"zhangwei": "张伟", "xiaoya": "小雅", "xian": "西安", "ouyangna": "欧阳娜", "lili": "李丽"} {
		if !has(letters, name) {
			t.Errorf("%s is not read as %s", letters, name)
		}
	}
	for _, s := range []string{"", "wei", "dentist", "zhangweix", strings.Repeat("a", 100)} {
		if got := Readings(s); len(got) > 0 {
			t.Errorf("%s is read in %d ways", s, len(got))
		}
	}
}
