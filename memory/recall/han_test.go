package recall

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Lines of Chinese and English talk, and questions in either language with the
// line that answers them.
var hanLines = [][2]string{
	{"王芳", "早上好，今天天气不错。"},
	{"李明", "我下周二要去看牙医，十点的预约。"},
	{"王芳", "我妈妈对花生过敏，别放花生酱。"},
	{"李明", "我把自行车的钥匙放在书架上了。"},
	{"王芳", "我们去年搬到上海，以前住在北京。"},
	{"Anna", "My brother works as a nurse in the hospital downtown."},
	{"Anna", "The wedding is on Saturday, I still need a gift."},
	{"李明", "饺子要煮八分钟，水开三次再捞。"},
	{"王芳", "周末我想去爬山，你有空吗？"},
	{"李明", "好啊，我带相机拍照片。"},
	{"Anna", "I left the umbrella on the bus again."},
	{"Anna", "We flew to Tokyo in spring and the flight was late."},
	{"王芳", "女儿在学钢琴，每个星期三上课。"},
	{"李明", "我的工资下个月要涨了，老板说的。"},
	{"Anna", "Our neighbor's cat had three kittens."},
	{"王芳", "我最喜欢的水果是芒果。"},
	{"Anna", "I am reading a novel about the sea."},
	{"李明", "房租每个月五千块，太贵了。"},
	{"Anna", "The password for the printer is on a note in the drawer."},
	{"王芳", "图书馆八点关门，要早点去还书。"},
}

func TestChinese(t *testing.T) {
	x := openOn(t, newSegments(), Options{})
	talk(t, x, "s", june, 1, hanLines...)
	questions := []struct {
		text string
		want int
	}{
		{"什么时候去看牙医", 2}, {"妈妈对什么过敏", 3}, {"自行车钥匙在哪里", 4}, {"王芳以前住在哪里", 5}, {"饺子怎么煮", 8},
		{"谁在学钢琴", 13}, {"图书馆几点关门", 20}, {"房租多少钱", 18}, {"最喜欢的水果", 16}, {"谁带相机", 10},
		{"when is the dentist appointment", 2}, {"who has an allergy to peanuts", 3}, {"where is the key of the bicycle", 4},
		{"how long to boil dumplings", 8}, {"when does the library close", 20}, {"how much is the rent", 18}, {"who plays the piano", 13},
		{"谁的哥哥在医院工作", 6}, {"婚礼是哪天", 7}, {"雨伞在哪里", 11}, {"去东京的航班怎么样", 12}, {"邻居的猫", 15}, {"抽屉里有什么密码", 19},
	}
	found := 0
	for _, q := range questions {
		r := find(t, x, Query{Text: q.text, Now: june, K: 3})
		ok := false
		for _, h := range r.Hits {
			ok = ok || h.ID == idOf(q.want)
		}
		if ok {
			found++
		} else {
			t.Logf("%q: line %d is not among the first three", q.text, q.want)
		}
	}
	if found < len(questions)-1 {
		t.Errorf("%d of %d questions answered within three hits", found, len(questions))
	}
}

// 多少 and 什么时候 ask, and a line that also has them is no answer. In 小时候, 时候 says something.
func TestChineseWordsThatOnlyAsk(t *testing.T) {
	x := openOn(t, newSegments(), Options{})
	lines := [][2]string{
		{"老宋", "电动车是四万六买的。"}, {"老罗", "嫂子多少年没痛快下楼了。"}, {"老宋", "考试的时候别紧张。"}, {"老罗", "孙子下周三去南京。"},
		{"老宋", "我小时候住在河边。"}, {"老罗", "我现在住在五楼。"},
	}
	for i, l := range lines {
		if err := x.Add(Doc{ID: idOf(i + 1), Kind: Utterance, Session: fmt.Sprint("s", i), At: june, Speaker: l[0], Text: l[1]}); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		question   string
		first, not int // 0: none is excluded
	}{
		{"电动车多少钱", 1, 2},
		{"孙子什么时候去南京", 4, 3},
		{"孙子啥时候去南京", 4, 3},
		{"小时候住在哪里", 5, 0},
	} {
		got := find(t, x, Query{Text: tt.question, Now: june})
		hits := got.Hits
		if when := strings.Contains(tt.question, "么时候") || strings.Contains(tt.question, "啥时候"); when != (got.Shape == When) {
			t.Errorf("%s: shape %s", tt.question, got.Shape)
		}
		if len(hits) == 0 || hits[0].ID != idOf(tt.first) || slices.ContainsFunc(hits, func(h Hit) bool { return tt.not > 0 && h.ID == idOf(tt.not) }) {
			t.Errorf("%s: %v, want line %d first, and not line %d", tt.question, hits, tt.first, tt.not)
		}
	}
}

// A meal is asked for by its name, and told by the time of the day.
func TestChineseMeals(t *testing.T) {
	x := openOn(t, newSegments(), Options{})
	for i, line := range []string{"我不喝牛奶，喝了肚子不舒服", "奶奶的午睡很长", "今天中午跟大学同学刘畅在西塘路那家湘菜馆吃的", "护照我放在书房第二个抽屉里", "弟弟在深圳一家游戏公司做美术"} {
		if err := x.Add(Doc{ID: idOf(i + 1), Kind: Utterance, Session: fmt.Sprint("s", i), At: june, Speaker: "林悦", Text: line}); err != nil {
			t.Fatal(err)
		}
	}
	for _, q := range []string{"午饭在哪儿吃的", "午饭跟谁吃的"} {
		if r := find(t, x, Query{Text: q, Now: june, K: 3}); len(r.Hits) == 0 || r.Hits[0].ID != idOf(3) || r.Confidence < Unsure {
			t.Errorf("%s: %v, %+v", q, r.Confidence, r.Hits)
		}
	}
}
