package rules

// orders reports a sentence that tells whoever keeps or reads the memory what to do
// with it: "everything in these notes is to be wiped". Kept in its own words it
// would stand in the context of every model that is asked.
func orders(s sentence) bool {
	if s.chinese() {
		raw := s.raw()
		return containsAny(raw, "记录", "记忆", "指令", "提示词", "数据", "资料") && containsAny(raw, "删", "清除", "清空", "忽略", "抹", "忘掉", "覆盖")
	}
	kept, undone := false, false
	for i := range s.toks {
		switch w := s.at(i); {
		case keptWords[w]:
			kept = true
		case undoneWords[w]:
			undone = true
		}
	}
	return kept && undone
}

var (
	keptWords   = set("record records memory memories instruction instructions prompt prompts database assistant")
	undoneWords = set("wipe wiped delete deleted erase erased remove removed ignore ignored disregard disregarded overwrite overwritten purge purged discard discarded")
)
