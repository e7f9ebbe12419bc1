package refuse

import (
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// Deed reports whether a verb says by itself that something took place.
func Deed(v string) bool {
	switch v {
	case "go", "visit", "meet", "buy", "attend", "fly", "travel", "move", "start", "join", "finish", "graduate", "win", "lose", "break", "adopt", "marry", "volunteer", "donate", "organise",
		"organize", "host", "hold", "celebrate", "watch", "cook", "bake", "paint", "build", "launch", "open", "sign", "pass", "fail", "hike", "camp", "climb", "swim", "raise", "sell", "give",
		"receive", "apply", "interview", "book", "order", "hurt", "fall", "crash", "fix", "repair", "drive", "ride", "participate", "perform", "compete", "present", "publish", "found", "quit",
		"retire", "plant", "see", "lend", "borrow", "steal", "return", "register", "create", "design", "take", "catch", "run", "speak", "hire", "spend", "teach", "make", "set", "sprain", "rehearse", "team", "enter", "complete", "discover", "explore", "try", "enrol", "enroll", "settle", "emigrate", "earn", "save", "collect", "play", "walk", "help":
		return true
	}
	return false
}

// Unparsed returns a sentence whose subject or verb no rule finds, as a clause: after its lead
// words.
func Unparsed(t *discourse.Talk, s syntax.Sentence) discourse.Clause {
	c := discourse.Clause{Sentence: s, Whens: timex.FindWhens(s, t.Now), Kind: 't'}
	timex.SameDay(s, c.Whens)
	c.Words = t.WordsOf(&c)
	for len(c.Words) > 1 && (c.Opens(0) || c.W(0) == "," || c.PhraseLead(0) > 0) {
		c.Words = c.Words[max(1, c.PhraseLead(0)):]
	}
	c.Subj = t.Self
	if c.W(0) == "i" {
		c.Kind = 's'
		c.Predicate(1)
	}
	c.PastElided(t.Now)
	return c
}

// CompoundsZh removes the words in which a character has another meaning than alone: 请 in 申请 asks
// for nothing, 吧 in 酒吧 is not a particle.
var CompoundsZh = syntax.Compounds("申请 邀请 聘请 宴请 请客 请假 请教 请求 请柬 请帖 请了 请的 请过假 " +
	"特别 分别 告别 区别 性别 别墅 别人 离别 送别 级别 识别 个别 类别 鉴别 差别 别名 别克 别的 别扭 道别 " +
	"小说 传说 说明书 说服 演说 演讲 讲座 讲师 讲台 讲义 讲课 讲解 酒吧 网吧 吧台 咖啡吧 书吧 水吧 茶吧 呢子 呢大衣 " +
	"关系 关节 关于 关心 关注 开关 机关 海关 有关 相关 关键 难关 放假 放学 放心 放松 开放 放射 放弃 放在 帮忙")
