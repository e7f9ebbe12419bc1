package discourse

import (
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// hisZh puts 的 for the 他 or 她 by which people say whose relative somebody is: 老张他儿子, 我弟他老婆.
func hisZh(x string) string {
	for _, he := range [...]string{"他", "她"} {
		who, rest, ok := strings.Cut(x, he)
		if !ok || who == "" || syntax.KinPrefixZh(rest) == "" || utf8.RuneCountInString(who) > 12 || strings.HasSuffix(who, "孩子") {
			continue
		}
		owner := syntax.StripLeadZh(who)
		if own, mine := CutOwnZh(owner); mine {
			owner = own
		} else if i := strings.LastIndex(owner, "的"); i > 0 {
			owner = owner[i+len("的"):] // Mei的弟他老婆
		}
		if syntax.PersonZh(owner) || owner != "" && syntax.KinPrefixZh(owner) == owner || syntax.EndsWithAny(owner, []string{"主任", "总监", "经理", "局长", "校长", "处长", "科长"}) && utf8.RuneCountInString(owner) <= 4 {
			return who + "的" + rest
		}
	}
	return x
}
