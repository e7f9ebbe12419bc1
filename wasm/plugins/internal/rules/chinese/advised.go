package chinese

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// skilled are people whose word on a matter counts.
var skilled = [...]string{"主治医生", "医生", "大夫", "牙医", "兽医", "护士", "律师", "会计", "电工", "水管工", "修车师傅", "维修师傅", "装修师傅", "师傅", "教练", "老师", "班主任", "理疗师", "康复师", "营养师", "药剂师", "验光师", "心理咨询师", "咨询师", "设计师", "中介", "顾问", "专家", "技术员", "工程师", "修车的", "水电工", "修手机的", "修电脑的", "修理工", "保险公司", "售后", "装修工", "理发师", "兽医院", "医院", "药店"}

// Advised takes what a professional told the speaker to do: 牙医说要拔两颗智齿.
func Advised(t *discourse.Talk, s syntax.Sentence) bool {
	x := syntax.StripLeadZh(strings.Trim(s.Raw(), " ，,。！!"))
	x, own := discourse.CutOwnZh(x)
	who := syntax.LongestZh(x, skilled[:])
	if who == "" {
		return false
	}
	rest := x[len(who):]
	for _, says := range [...]string{"建议我们", "建议我", "建议", "让我们", "让我", "叫我们", "叫我", "不让我", "跟我说", "告诉我", "说了", "说"} {
		what, ok := strings.CutPrefix(rest, says)
		if !ok {
			continue
		}
		what = strings.TrimLeft(what, "，, ")
		if strings.ContainsAny(what, "他她你您") || len([]rune(what)) < 3 || syntax.VagueZh(what) {
			return false
		}
		if strings.HasSuffix(says, "说") || strings.HasSuffix(says, "说了") || says == "告诉我" {
			if strings.HasPrefix(what, "得") || strings.HasPrefix(what, "我") && !syntax.ContainsAny(what, "要", "得", "该", "需要", "不能", "必须") || strings.HasPrefix(what, "咱") || !syntax.ContainsAny(what, "要", "得", "该", "需要", "必须", "不能", "最好", "别", "太", "不用", "可以") {
				return false
			}
		}
		a := t.NoteZh(s)
		if !own && !strings.Contains(a.Text, t.Self.Name) {
			a.Entities = nil
		}
		t.Out.Candidates = append(t.Out.Candidates, a)
		return true
	}
	return false
}
