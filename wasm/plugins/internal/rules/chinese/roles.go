package chinese

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// role returns somebody's role for a person close to the speaker: 我女儿的班主任, 我儿子最好的朋友.
func role(t *discourse.Talk, who string) (owner discourse.Person, role string, ok bool) {
	k, own := "", ""
	for _, pre := range [...]string{"我们", "我家", "我", ""} {
		if rest, cut := strings.CutPrefix(who, pre); cut {
			if k = syntax.KinPrefixZh(strings.TrimPrefix(rest, "的")); k != "" {
				own, role = pre, strings.TrimPrefix(rest, "的")[len(k):]
				break
			}
		}
	}
	if who, role, ok := strings.Cut(who, "的"); ok && k == "" && (syntax.PersonZh(who) || t.Knows(who)) && slices.Contains(discourse.RolesZh[:], role) { // 小明的老师
		return t.Named(who), role, true
	}
	if k == "" || own == "" && utf8.RuneCountInString(k) < 2 {
		return discourse.Person{}, "", false
	}
	role = strings.TrimPrefix(role, "的")
	if n := utf8.RuneCountInString(role); n < 2 || n > 8 || !syntax.EndsWithAny(role, discourse.RolesZh[:]) {
		return discourse.Person{}, "", false
	}
	return discourse.Person{Name: t.Self.Name + "的" + k, Key: t.Self.Key + "的" + k}, role, true
}

// namedRole takes the name or surname of such a person: 我女儿的班主任姓陈.
func namedRole(t *discourse.Talk, b *discourse.BareZh) bool {
	for _, k := range [...]string{"名字叫", "叫做", "叫", "姓", "是"} {
		who, name, ok := strings.Cut(b.Text, k)
		name = syntax.TrimZh(name)
		if !ok || name == "" {
			continue
		}
		owner, role, ok := role(t, strings.TrimSuffix(strings.TrimSuffix(who, "的"), "就"))
		switch {
		case !ok:
			continue
		case k == "姓" && (utf8.RuneCountInString(name) > 2 || !strings.Contains(syntax.SurnamesZh, name)),
			k == "是" && !syntax.PersonZh(name),
			k != "姓" && (!discourse.NameZh(name) || ordered(name)):
			return false
		}
		n := len(t.Out.Candidates)
		t.RelationZh(b, owner, role, name)
		if k == "姓" {
			t.Out.Candidates[n].Text = owner.Name + "的" + role + "姓" + name + "。"
		}
		return true
	}
	return false
}

// rather takes 我宁愿喝茶也不喝咖啡: somebody likes one thing better than another.
func rather(t *discourse.Talk, b *discourse.BareZh) bool {
	for _, k := range [...]string{"宁愿", "宁可", "情愿", "更愿意"} {
		who, what, ok := strings.Cut(b.Text, k)
		if !ok {
			continue
		}
		for _, than := range [...]string{"也不愿意", "也不愿", "也不想", "也不要", "也不", "而不是", "而不"} {
			liked, other, cut := strings.Cut(what, than)
			p, known := t.SubjectZh(who)
			if !cut || !known || liked == "" || other == "" || syntax.VagueZh(liked) || syntax.ContainsAny(liked, "死", "饿") || syntax.ContainsAny(other, "他", "她", "你", "这", "那", "再") {
				continue
			}
			t.FactZh(b, p, "preference", "likes", liked, true, false, 0.85)
			return true
		}
	}
	return false
}

// posts are endings of jobs, besides [syntax.JobsZh], with which no name ends: 销售总监, 项目负责人.
var posts = [...]string{"总监", "主管", "组长", "班长", "负责人", "主持人", "经纪人", "专员", "助理", "代表", "创始人", "合伙人", "主任", "院长", "校长", "所长", "处长", "科长", "局长", "部长", "行长", "厂长", "总裁", "技术员", "管理员", "营业员", "服务员", "收银员", "业务员", "讲师", "策划", "厨师长", "工人", "军人", "商人"}

// jobAfter takes somebody's job from 我在华为做程序员.
func jobAfter(t *discourse.Talk, b *discourse.BareZh, p *match, who discourse.Person) {
	if p.until != "做" && p.until != "当" {
		return
	}
	made := len(t.Out.Candidates)
	t.FactZh(b, who, "work", "job", p.after, false, false, 0.85)
	for i := made; i < len(t.Out.Candidates); i++ {
		if a := &t.Out.Candidates[i]; !a.Negates {
			is := "是"
			if slices.Contains(lines[:], a.Slot.Value) {
				is = "做"
			}
			a.Text = who.Name + is + a.Slot.Value + "。" // without the firm, which it may outlast
		}
	}
}
