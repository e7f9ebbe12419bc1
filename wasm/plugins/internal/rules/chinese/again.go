package chinese

import (
	"strings"

	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// cutAgain turns 我又开始吃素了 into the clause 我吃素, so that the rules for present facts read it.
func cutAgain(x string) (string, bool) {
	end := discourse.TrimZhEnd(x)
	for _, k := range [...]string{"又重新开始", "重新开始", "又开始", "又"} {
		who, what, ok := strings.Cut(end, k)
		if !ok || who != "" && !syntax.EndsWithAny(who, []string{"我", "现在", "他", "她", "已经", "最近"}) && !syntax.PersonZh(who) && syntax.KinPrefixZh(strings.TrimPrefix(who, "我")) == "" {
			continue
		}
		return strings.TrimSuffix(who, "现在") + strings.TrimSuffix(what, "了"), true
	}
	return x, false
}

// resumed takes 我又开始吃二甲双胍了, 我又抽烟了, 我又跑步了: what is true again.
func resumed(t *discourse.Talk, b *discourse.BareZh) bool {
	x, again := cutAgain(b.Text)
	if !again || strings.ContainsAny(x, "没不吗想要") {
		return false
	}
	own, ok := own(x)
	if own = strings.TrimPrefix(own, "在"); !ok || !strings.HasPrefix(x, "我") {
		return false
	}
	n := len(t.Out.Candidates)
	switch {
	case smoking[own]:
		ended(t, b, "diet", "avoids", "烟", true)
		t.FactZh(b, t.Self, "diet", "smokes", own, true, false, 0.8)
	case own == "吃素" || own == "吃全素":
		t.FactZh(b, t.Self, "diet", "diet", own, false, false, 0.85)
		ended(t, b, "diet", "eats", "肉", true)
	case (strings.HasPrefix(own, "吃") || strings.HasPrefix(own, "服用") || strings.HasPrefix(own, "打")) && Drug(strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(own, "吃"), "服用"), "打")):
		t.FactZh(b, t.Self, "health", discourse.Medication, strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(own, "吃"), "服用"), "打"), true, false, 0.85)
		t.Out.Candidates[len(t.Out.Candidates)-1].Sensitivity = "private"
	case strings.HasPrefix(own, "吃") || strings.HasPrefix(own, "喝"):
		food := own[len("吃"):]
		if food == "" || syntax.VagueZh(food) || strings.ContainsAny(food, "了过完到多少饱醉撑坏错") || strings.Contains(food, "饭") || len([]rune(food)) > 4 {
			return false
		}
		if food == "肉" {
			ended(t, b, "diet", "diet", "吃素", false)
		}
		ended(t, b, "diet", "avoids", food, true)
		t.FactZh(b, t.Self, "diet", map[string]string{"吃": "eats", "喝": "drinks"}[own[:len("吃")]], food, true, false, 0.75)
	case activity(own) && len([]rune(own)) <= 8 && !strings.ContainsAny(own, "了过完到"):
		habitual(t, b, t.Self, 0.7)
		if c := &t.Out.Candidates[len(t.Out.Candidates)-1]; len(t.Out.Candidates) > n {
			c.Slot = &abi.Slot{Subject: t.Self.Key, Attribute: discourse.RoutineSlot(own), Value: own, Many: true}
		}
	}
	return len(t.Out.Candidates) > n
}
