package category

import (
	"regexp"
	"slices"
	"strings"

	"github.com/locket-dev/locket/internal/hans"
	"github.com/locket-dev/locket/memory"
)

// LeftOut is what the owner's instructions say is not to be remembered. The zero
// value leaves nothing out. It does not change, and may be used concurrently.
type LeftOut struct {
	sorter  *Sorter
	matters []matter
}

// matter is one thing that is left out: a category, or words in the text.
type matter struct {
	said     string // as the instructions name it
	category string // empty: matched by words
	words    []string
}

// The forms of instructions that are understood, after polite phrases are removed.
var (
	leaveOut = regexp.MustCompile(`(?i)^(?:please[, ]+)?(?:leave out|omit|exclude|ignore|skip|(?:do not|don[’']t|never) (?:ever )?(?:remember|keep|store|save|note|record|memori[sz]e|extract|write down)) (?:(?:anything|everything|all|things|facts|memories|notes|what (?:i|is) (?:say|said)) )?(?:(?:about|on|of|concerning|regarding|related to|that is about|to do with) )?(.+)$`)
	leaveZh  = regexp.MustCompile(`^(?:请)?(?:不要|别|勿|不用|不许)(?:再)?(?:记住|记录|记下|保存|保留|存储|记|存)(?:任何|所有|一切)?(?:和|与|跟|关于|有关)?(.+?)(?:有关|相关|方面)?(?:的)?(?:一切|任何)?(?:事情|内容|信息|东西|事|话)?$`)
	dropZh   = regexp.MustCompile(`^(?:请)?(?:忽略|排除|略过|去掉|省略)(?:任何|所有|一切)?(?:和|与|跟|关于|有关)?(.+?)(?:有关|相关|方面)?(?:的)?(?:事情|内容|信息|东西|事|话)?$`)
	ends     = regexp.MustCompile(`[.!?;。！？；\n]+`)
	joins    = regexp.MustCompile(`(?i), and |, or |, | and | or |、|，|以及|或者|和|或`)
	// taken matches a remedy whose name is not a word of the category: "I take Xarol twice a day
	// for my heart".
	taken  = regexp.MustCompile(`\btak(?:e|es|ing|en) (?:[\p{L}\p{N}]+ ){1,6}(?:for|against) (?:(?:my|his|her|their|the|a|an) )?(?:heart|stomach|back|knees?|nerves|skin|thyroid|blood|bones|lungs|eyes|throat|joints|mood|anxiety|depression|cough)\b`)
	owners = regexp.MustCompile(`(?i)^(?:(?:my|our|the|any|anybody's|anyone's|other people's|people's|somebody's) |我的|我们的|别人的)`)
)

// otherNames are words for categories besides their names.
var otherNames = map[string]string{"healthcare": "health", "medical": "health", "illness": "health", "illnesses": "health", "job": "work", "finances": "money", "finance": "money", "relatives": "family",
	"sport": "sports", "politics": "", "健康": "health", "身体": "health", "病情": "health", "工作": "work", "家人": "family", "家庭": "family", "朋友": "friends", "钱": "money", "财务": "money", "收入": "money",
	"饮食": "food", "吃": "food", "旅行": "travel", "旅游": "travel", "运动": "sports", "音乐": "music", "学校": "education", "学习": "education", "爱好": "hobbies", "喜好": "preferences", "计划": "plans"}

// LeftOut reads from instructions, in English or Chinese, what is to be left out: "Leave out
// everything about work", "Never remember my health or Carla", 不要记录健康方面的事. Sentences of other forms
// are only understood by a language model.
func (s *Sorter) LeftOut(instructions string) LeftOut {
	out := LeftOut{sorter: s}
	for _, line := range ends.Split(hans.Fold(instructions), -1) {
		line = strings.TrimSpace(line)
		for _, form := range [...]*regexp.Regexp{leaveOut, leaveZh, dropZh} {
			m := form.FindStringSubmatch(line)
			if m == nil {
				continue
			}
			for _, said := range joins.Split(m[1], -1) {
				if one, ok := s.matter(strings.TrimSpace(said)); ok {
					out.matters = append(out.matters, one)
				}
			}
			break
		}
	}
	return out
}

func (s *Sorter) matter(said string) (matter, bool) {
	name := memory.Normal(owners.ReplaceAllString(said, ""))
	if name == "" {
		return matter{}, false
	}
	for _, c := range [...]string{name, otherNames[name]} {
		if c != "" && slices.Contains(s.names, c) {
			return matter{said: said, category: c}, true
		}
	}
	return matter{said: said, words: strings.Fields(name)}, true
}

// Matter returns which matter of the instructions leaves a candidate out, in their words. A secret
// is never left out: it goes to the vault, or it would stay in the text.
func (l *LeftOut) Matter(c *memory.Candidate) (said string, ok bool) {
	if len(l.matters) == 0 || c.Type == memory.Vault {
		return "", false
	}
	m := &memory.Memory{Candidate: *c}
	text := ""
	for _, one := range l.matters {
		if one.category != "" {
			if slices.Contains(l.sorter.Of(m), one.category) || one.category == "health" && taken.MatchString(memory.Normal(m.Text)) {
				return one.said, true
			}
			continue
		}
		if text == "" {
			text = " " + memory.Normal(m.AllText()) + " "
		}
		if !slices.ContainsFunc(one.words, func(w string) bool {
			if han(w) {
				return !strings.Contains(text, w)
			}
			return !strings.Contains(text, " "+w+" ") && !strings.Contains(text, " "+w+"s ")
		}) {
			return one.said, true
		}
	}
	return "", false
}
