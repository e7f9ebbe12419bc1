package chinese

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// offices are those who announce what concerns the speaker, by the place where they say it.
var offices = []string{"物业", "房东", "学校", "幼儿园", "社区", "居委会", "小区", "供电局", "自来水公司", "供水公司", "电力公司", "燃气公司", "通知", "公告", "群里", "班主任", "老师", "医生", "老板", "领导", "单位", "公司", "客服", "快递", "邻居", "师傅"}

// Announced returns who announces something, and what: 物业说周四停水. It concerns the speaker if it is
// about their house or names an appointment.
func Announced(x string) (who, inner string) {
	if inner, ok := strings.CutPrefix(x, "他们说"); ok && !strings.Contains(inner, "他") && syntax.ContainsAny(inner, discourse.OutagesZh...) {
		return "他们", inner
	}
	x = syntax.TrimHeads(x, "刚才", "刚刚", "刚")
	for _, pre := range [...]string{"我们", "咱们", "我", "楼下", "公司", ""} {
		for _, office := range offices {
			rest, ok := strings.CutPrefix(x, pre)
			if ok {
				rest, ok = strings.CutPrefix(rest, office)
			}
			if !ok {
				continue
			}
			for _, says := range [...]string{"打电话说", "打电话来说", "来电话说", "发短信说", "发消息说", "发微信说", "发通知说", "通知说", "通知我们", "通知我", "跟我说", "告诉我", "说了", "说", "通知"} {
				inner, said := strings.CutPrefix(rest, says)
				if !said {
					continue
				}
				if _, word := EventIn(inner); !strings.HasPrefix(inner, "，") && !strings.HasPrefix(inner, "我") && !strings.HasPrefix(inner, "咱") && !strings.ContainsAny(inner, "他她") && (syntax.ContainsAny(inner, discourse.OutagesZh...) || word != "" || syntax.ContainsAny(inner, "上门安装", "上门维修")) {
					return pre + office, inner
				}
			}
		}
	}
	return "", ""
}
