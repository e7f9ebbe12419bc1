package memory

import (
	"strings"
	"unicode"
)

// SameValue folds the value of a slot for comparison, as [Normal] does. It also unifies the English
// and Chinese names of places, languages and a few diets, so that somebody who lives in Shanghai
// and 不住在上海了 speaks of one city. Spaces between Chinese characters make no difference. A letter
// followed by a combining accent (NFD) equals the accented letter.
func SameValue(s string) string {
	n := unspaced(compose.Replace(Normal(s)))
	if en, ok := exonyms[n]; ok {
		return en
	}
	return n
}

// compose combines a letter and its accent into one character (NFC), for the accents of the
// languages of western and central Europe.
var compose = func() *strings.Replacer {
	var pairs []string
	for _, row := range [...][3]string{
		{"aeiounwy", "\u0300", "àèìòùǹẁỳ"}, {"aeiouyncszlr", "\u0301", "áéíóúýńćśźĺŕ"}, {"aeiouwyg", "\u0302", "âêîôûŵŷĝ"}, {"aonuie", "\u0303", "ãõñũĩẽ"},
		{"aeiouy", "\u0308", "äëïöüÿ"}, {"au", "\u030a", "åů"}, {"cst", "\u0327", "çşţ"}, {"aeu", "\u0328", "ąęų"}, {"cdenrstz", "\u030c", "čďěňřšťž"}, {"ou", "\u030b", "őű"}, {"agu", "\u0306", "ăğŭ"},
	} {
		whole := []rune(row[2])
		for i, r := range []rune(row[0]) {
			pairs = append(pairs, string(r)+row[1], string(whole[i]))
		}
	}
	return strings.NewReplacer(pairs...)
}()

// unspaced removes the spaces between Chinese characters.
func unspaced(s string) string {
	if !strings.Contains(s, " ") {
		return s
	}
	rs := []rune(s)
	out := rs[:0:0]
	for i, r := range rs {
		if r == ' ' && i > 0 && i+1 < len(rs) && unicode.Is(unicode.Han, rs[i-1]) && unicode.Is(unicode.Han, rs[i+1]) {
			continue
		}
		out = append(out, r)
	}
	return string(out)
}

// exonyms maps Chinese names and other spellings to the English name. The list is short on purpose:
// names that are not in it count as two values, of which the later one is shown, as for any two
// words.
var exonyms = map[string]string{
	"北京": "beijing", "北京市": "beijing", "peking": "beijing", "上海": "shanghai", "上海市": "shanghai", "广州": "guangzhou", "canton": "guangzhou",
	"深圳": "shenzhen", "杭州": "hangzhou", "南京": "nanjing", "苏州": "suzhou", "成都": "chengdu", "重庆": "chongqing", "武汉": "wuhan",
	"西安": "xian", "天津": "tianjin", "青岛": "qingdao", "厦门": "xiamen", "大连": "dalian", "长沙": "changsha", "昆明": "kunming",
	"香港": "hong kong", "hongkong": "hong kong", "澳门": "macau", "macao": "macau", "台北": "taipei", "高雄": "kaohsiung",
	"东京": "tokyo", "大阪": "osaka", "京都": "kyoto", "首尔": "seoul", "新加坡": "singapore", "曼谷": "bangkok", "吉隆坡": "kuala lumpur",
	"悉尼": "sydney", "墨尔本": "melbourne", "伦敦": "london", "巴黎": "paris", "里昂": "lyon", "柏林": "berlin", "慕尼黑": "munich", "münchen": "munich",
	"维也纳": "vienna", "wien": "vienna", "苏黎世": "zurich", "zürich": "zurich", "日内瓦": "geneva", "罗马": "rome", "roma": "rome", "米兰": "milan",
	"马德里": "madrid", "巴塞罗那": "barcelona", "里斯本": "lisbon", "lisboa": "lisbon", "阿姆斯特丹": "amsterdam", "布鲁塞尔": "brussels", "根特": "ghent", "gent": "ghent",
	"莫斯科": "moscow", "纽约": "new york", "nyc": "new york", "洛杉矶": "los angeles", "旧金山": "san francisco", "西雅图": "seattle", "波士顿": "boston",
	"芝加哥": "chicago", "多伦多": "toronto", "温哥华": "vancouver",
	"中国": "china", "日本": "japan", "韩国": "korea", "美国": "america", "英国": "britain", "法国": "france", "德国": "germany", "意大利": "italy", "西班牙": "spain",
	"素食": "vegetarian", "素食者": "vegetarian", "吃素": "vegetarian", "纯素": "vegan",
}

// Opposed returns the common attribute of two attributes that can't both be true of one thing: who
// likes coffee does not dislike it.
func Opposed(attribute string) string {
	n := Normal(attribute)
	if n == "dislikes" || n == "hates" {
		return "likes"
	}
	return strings.TrimPrefix(n, "not ") // not_allergies: things that somebody said they are not allergic to
}

// MultiValued reports whether the values of an attribute are in one group and are true at the same time:
// the wearer swims on Tuesdays and on Saturdays. A memory that ends such a slot without naming a
// value ends all its values.
func MultiValued(attribute string) bool { return strings.HasPrefix(Normal(attribute), "routine ") }
