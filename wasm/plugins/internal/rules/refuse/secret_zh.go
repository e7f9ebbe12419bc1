package refuse

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// The parts of a password are as secret as the password: 密码是我妈生日. The vault has no value to keep
// for it, and no memory may contain it.

// passwordsZh are words for passwords and the like.
var passwordsZh = [...]string{"密码", "口令", "暗号"}

// secretZh reports whether a Chinese sentence says what a password is, or answers what it is.
func secretZh(t *discourse.Talk, s syntax.Sentence) bool {
	raw := s.Raw()
	for _, word := range passwordsZh {
		_, rest, ok := strings.Cut(raw, word)
		if rest = syntax.TrimHeads(rest, "我", "都", "还", "已经", "就", "现在", "也"); ok && syntax.StartsWithAny(rest, []string{"是", "为", "改成", "改为", "换成", "设成", "设的", "用的", "：", ":"}) {
			return true
		}
	}
	b := t.JustSaid()
	return b != nil && !syntax.ContainsAny(raw, passwordsZh[:]...) && syntax.ContainsAny(b.Text, passwordsZh[:]...) && syntax.ContainsAny(b.Text, "多少", "什么", "啥", "几位", "哪个") && !syntax.ContainsAny(raw, "不知道", "忘", "贴", "写在", "问")
}

// DialledZh reports whether a text says how a dial is turned to open something: 左转三圈到二十五.
func DialledZh(t *discourse.Talk) bool {
	text := t.Ev.Text
	if !strings.Contains(text, "转") || !strings.Contains(text, "左") || !strings.Contains(text, "右") {
		return false
	}
	if b := t.JustSaid(); b != nil {
		text += b.Text
	}
	return syntax.ContainsAny(text, "保险箱", "保险柜", "密码锁", "密码箱", "转盘")
}
