package chinese

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// escorts are what somebody does for whom an event is: 送我爸去做手术, 给我妈约牙医.
var escorts = [...]string{"陪", "送", "带", "领", "接", "给", "帮", "替"}

// shared are events in which whoever brings somebody takes part.
var shared = syntax.Set("dinner lunch party film concert exhibition play picnic wedding flight train date parents_meeting")

// escorted reports whether the event after the words before it is that of somebody whom another
// only takes there: 我送我爸去做手术 is no operation of the speaker's.
func escorted(before, attribute string) bool {
	if shared[attribute] {
		return false
	}
	for _, verb := range escorts {
		if _, who, ok := strings.Cut(before, verb); ok && somebody(who) {
			return true
		}
	}
	return false
}

// takesAlong reports whether a clause begins with whom the speaker takes somewhere: 带娃打疫苗.
func takesAlong(x string) bool {
	rest, ok := syntax.CutHead(strings.TrimPrefix(x, "我"), escorts[:4]...)
	return ok && somebody(rest)
}

// somebody reports whether a text begins with a person or an animal.
func somebody(x string) bool {
	x = syntax.TrimHeads(x, "着", "了", "我们家", "咱们家", "我们", "咱们", "我家", "我的", "我", "两个", "俩")
	return syntax.KinPrefixZh(x) != "" || discourse.NamePrefixZh(x) != "" || discourse.NeighbourZh(x) != "" ||
		syntax.StartsWithAny(x, []string{"孩子", "小孩", "小朋友", "宝宝", "娃", "老人", "他", "她", "狗", "猫", "小狗", "小猫", "毛孩子"})
}

// takesMe reports whether somebody takes the speaker to an event, 我老公送我去做手术, so that it is the
// speaker's.
func takesMe(x, attribute string) bool {
	for _, verb := range escorts {
		if _, to, ok := strings.Cut(x, verb+"我"); ok && attribute != "" && !shared[attribute] && syntax.StartsWithAny(to, []string{"去", "到", "来", "做", "看", "约", "挂", "预约"}) {
			return true
		}
	}
	return false
}
