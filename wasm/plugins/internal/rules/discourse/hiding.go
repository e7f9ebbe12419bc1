package discourse

import (
	"strings"

	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// A burglar would like to know where somebody hides a thing, or keeps a spare key, money or
// jewellery. The wearer finds such a memory as before; an app that may see personal memories
// doesn't.

var hidingVerbs = syntax.Set("hid hide hides hiding hidden stash stashed stashes")

// treasures are things that nobody else must find; so are keys with "spare" or "extra" before them.
var treasures = syntax.Set("cash money savings jewellery jewelry jewels gold silver ring rings necklace safe valuables will deeds")

var treasuresZh = [...]string{"备用钥匙", "备用的钥匙", "现金", "私房钱", "存折", "存单", "首饰", "金条", "金项链", "项链", "戒指", "镯子", "保险箱", "保险柜", "房产证", "房本"}

// hidingPlace reports whether a memory says where such a thing is.
func hidingPlace(c *abi.Candidate) bool {
	if c.Slot == nil || c.Slot.Attribute != "location" || c.Negates {
		return false
	}
	if syntax.ContainsAny(c.Text, "藏") || syntax.ContainsAny(c.Slot.Subject, treasuresZh[:]...) {
		return true
	}
	for word := range strings.FieldsSeq(strings.ToLower(strings.TrimRight(c.Text, "."))) {
		if hidingVerbs[word] {
			return true
		}
	}
	what := strings.ToLower(c.Slot.Subject)
	last := Last(what)
	return treasures[last] || (last == "key" || last == "keys") && (HoldsWord(what, "spare") || HoldsWord(what, "extra"))
}
