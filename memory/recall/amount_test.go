package recall

import (
	"strconv"
	"testing"
	"time"
)

func TestFindNumbers(t *testing.T) {
	for text, want := range map[string]bool{
		"It was 80 yuan.": true, "She walked half the way": true, "two cups of rice": true, "a dozen eggs": true, "about eight thousand": true,
		"I was second.": false, "the third of them": false, "A cup of rice": false, "I saw him on 12 June.": false,
		"换一根八十": true, "大概八百": true, "要六个钟头呢": true, "胖了十斤": true, "一小时四十五": true, "有一百块": true, "买了两本": true, "住3楼": true,
		"一起去吧": false, "万一下雨": false, "十分高兴": false, "第三个是他": false, "第二": false, "去看了一下": false, "六月三号见过他": false, "半夜醒了": false,
	} {
		words := split(text)
		if got := saysNumber(words, findTimes(words, june).consumed); got != want {
			t.Errorf("%s: a number %t, want %t", text, got, want)
		}
	}
}

func TestFindHours(t *testing.T) {
	for text, want := range map[string]bool{
		"We meet at half past three.": true, "The bus goes at a quarter to nine": true, "Come at 7 pm": true, "open until 7pm": true, "at noon": true, "it's seven o'clock": true, "I get up at six.": true, "at six thirty": true, "dinner at eight tomorrow": true,
		"at six houses": false, "I am at a party": false, "I am 12": false, "half past caring": false,
		"下午三点一刻放学": true, "晚上九点二十": true, "六点半开饭": true, "十一点睡": true, "中午一点吃饭": true, "一点半": true, "一点钟到": true, "8点见": true, "9:30到": true, "9：30到": true, "比分是3:2": false,
		"好一点了": false, "有一点累": false, "点菜吧": false, "快点": false,
	} {
		words := split(text)
		if got := saysHour(text, words); got != want {
			t.Errorf("%s: an hour %t, want %t", text, got, want)
		}
		if got := prepare(Doc{Text: text, At: june}).flags&flagTime != 0; want && !got {
			t.Errorf("%s: it names no time", text)
		}
	}
}

func TestChineseParticleNe(t *testing.T) {
	for text, want := range map[string]bool{"你呢": true, "那猫呢": true, "他为什么不来呢": true, "去哪儿呢": true, "高铁要六个钟头呢": false, "我还没吃饭呢": false, "我还没吃饭吗": true} {
		if got := isQuestion(text); got != want {
			t.Errorf("%s: a question %t, want %t", text, got, want)
		}
	}
}

// A question for a number, an hour or a length of time gets the line that has one, in either
// language.
func TestLineWithTheAskedAmountComesFirst(t *testing.T) {
	said := []string{
		"这个水管老是漏水，师傅换了水管", "换水管花了八十", "The piano was tuned by a man from Leeds", "Tuning the piano took two hundred out of my purse",
		"奶奶说孙子学校很好", "孙子学校三点一刻关门", "坐高铁很舒服的", "坐高铁要六个钟头呢",
	}
	x := openOn(t, newSegments(), Options{})
	for i, s := range said {
		if err := x.Add(Doc{ID: idOf(i), Kind: Utterance, Session: "s" + strconv.Itoa(i), At: june.Add(-time.Hour * time.Duration(i)), Speaker: "Tom", Text: s}); err != nil {
			t.Fatal(err)
		}
	}
	for q, want := range map[string]int{
		"How much did the water pipe cost?": 1, "水管多少钱": 1, "How much was the piano?": 3, "钢琴tuning花了多少": 3,
		"What time does the grandson's school close?": 5, "孙子学校几点关门": 5, "How long does the high-speed train take?": 7, "高铁要坐多久": 7,
	} {
		if r := find(t, x, Query{Text: q, Now: june, K: 3}); len(r.Hits) == 0 || r.Hits[0].ID != idOf(want) {
			t.Errorf("%s: %v", q, r.Hits)
		}
	}
}
