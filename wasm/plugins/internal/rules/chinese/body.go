package chinese

import (
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// ofBody takes what somebody's body has and wears: 我是A型血, 今年我鼻炎特别厉害, 我戴隐形眼镜. It reports whether
// it knew the clause.
func ofBody(t *discourse.Talk, b *discourse.BareZh) bool {
	x := syntax.TrimZh(discourse.TrimZhEnd(b.Text))
	if who, blood, ok := strings.Cut(x, "是"); ok && strings.HasSuffix(blood, "型血") && utf8.RuneCountInString(blood) <= 7 {
		return healthOf(t, b, who, "blood_type", strings.TrimSuffix(blood, "血"))
	}
	if strings.HasSuffix(x, "写在脸上") {
		return true // 心事都写在脸上
	}
	return flares(t, b, x) || wears(t, b, x)
}

// flares takes an illness that is bad now: 我鼻炎又犯了.
func flares(t *discourse.Talk, b *discourse.BareZh, x string) bool {
	head, bad := syntax.CutEnd(x, "厉害", "严重", "犯了", "发作了", "复发了")
	if !bad || strings.ContainsAny(x, "不没吗") {
		return false
	}
	head = syntax.TrimTails(head, "的", "又", "特别", "很", "挺", "越来越", "非常", "有点", "最近", "今年")
	for i := range head {
		if who, what := head[:i], head[i:]; condition(what) && utf8.RuneCountInString(what) <= 5 && !strings.ContainsAny(what, "我他她的") {
			if healthOf(t, b, strings.TrimSuffix(who, "的"), "condition", what) {
				return true
			}
		}
	}
	return false
}

// wears takes what somebody wears every day: 我戴眼镜.
func wears(t *discourse.Talk, b *discourse.BareZh, x string) bool {
	who, what, ok := strings.Cut(x, "戴")
	what = strings.TrimPrefix(what, "着")
	if !ok || !syntax.EndsWithAny(what, []string{"眼镜", "镜片", "助听器", "假牙", "牙套", "假发", "护膝", "护腕"}) || strings.ContainsAny(x, "不没别了要") {
		return false
	}
	p, ok := t.SubjectZh(syntax.TrimTails(who, "一直", "平时", "都", "现在"))
	if ok {
		t.FactZh(b, p, "habit", "wears", what, true, false, 0.75)
	}
	return ok
}
