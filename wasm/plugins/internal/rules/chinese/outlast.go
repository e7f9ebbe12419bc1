package chinese

import (
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// once takes 我以前抽烟, 我曾经弹钢琴.
func once(t *discourse.Talk, b *discourse.BareZh, x string) bool {
	own, ok := strings.CutPrefix(x, "我")
	for _, k := range Once {
		what, found := strings.CutPrefix(own, k)
		often := strings.TrimPrefix(strings.TrimPrefix(what, "经常"), "常常")
		if k == "过去" && often == what {
			continue // 我过去跑步: I'm going over there
		}
		what = often
		switch {
		case !ok || !found || what == "":
		case smoking[what]:
			ended(t, b, "diet", "smokes", what, true)
			return true
		case activity(what):
			ended(t, b, "habit", discourse.RoutineSlot(what), "", true)
			return true
		}
	}
	return false
}

var smoking = syntax.Set("抽烟 吸烟 抽过烟 吸过烟")

// sold takes 我把车卖了, 我卖掉了自行车, 我的车卖掉了.
func sold(t *discourse.Talk, b *discourse.BareZh, x string) bool {
	for _, k := range [...]string{"卖掉了", "卖了", "送人了", "扔了", "扔掉了"} {
		what, ok := "", false
		for _, pre := range [...]string{"我把", "我们把", "我已经把"} {
			if what, ok = strings.CutPrefix(x, pre); ok {
				what, ok = strings.CutSuffix(what, k)
				break
			}
		}
		if !ok && k == "卖掉了" {
			what, ok = strings.CutPrefix(x, "我"+k)
		}
		what, mine := strings.CutPrefix(what, "我的")
		what = strings.TrimPrefix(strings.TrimPrefix(what, "那"), "辆")
		had := !notHad(what) && (mine || k[:3] == "卖" && (utf8.RuneCountInString(what) > 1 || syntax.EndsWithAny(what, Belongings[:]) || syntax.EndsWithAny(what, Things[:])))
		if n := utf8.RuneCountInString(what); ok && had && n > 0 && n <= 8 && !syntax.VagueZh(what) {
			ended(t, b, "possession", "owns", what, true)
			return true
		}
	}
	return false
}

// notHad reports whether what is something that people throw or give away without having owned it:
// 垃圾, 剩饭, 心思.
func notHad(what string) bool {
	return syntax.ContainsAny(what, "垃圾", "饭", "菜", "纸", "票", "心", "灵魂", "时间", "机会", "位置", "座位", "号码", "作业", "命", "水果", "苹果", "快递", "货", "批", "这些", "那些")
}

// Once are the beginnings of what was true and no longer is.
var Once = [...]string{"以前", "曾经", "过去", "从前", "原来"}
