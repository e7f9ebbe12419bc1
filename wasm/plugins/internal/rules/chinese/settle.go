package chinese

import (
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// In Chinese, the ending of a word shows what kind of place it is.
var passings = [...]string{"酒店", "宾馆", "民宿", "医院", "旅馆", "旅舍", "招待所", "客栈", "度假村", "病房", "青旅"}

var rooms = [...]string{"卧室", "客厅", "阳台", "书房", "厨房", "车库", "地下室", "楼上", "楼下", "办公室", "院子", "会议室", "房间", "厕所", "浴室", "走廊", "仓库", "角落", "桌上", "柜子", "一起", "前面", "后面", "旁边", "里面", "外面", "周一", "周二", "周三", "周四", "周五", "周六", "周日", "心里", "分公司", "总公司", "总部", "部门", "部", "科室", "团队", "小组", "岗位", "项目组", "班"}

var notFirms = [...]string{"区", "市", "县", "镇", "省", "路", "街", "村", "市中心", "郊外", "外地", "国外", "海外", "老家", "楼上", "楼下", "路上", "网上", "这里", "那里", "附近", "一起", "晚上", "白天", "周末", "国内", "线上", "家里", "那边", "这边", "夜里"}

var notPlaces = [...]string{"三楼", "二楼", "一楼", "四楼", "五楼"}

// abode returns what kind of place it is in which somebody lives or to which they have moved.
func abode(value string, moved bool) discourse.Abode {
	value = syntax.TrimZh(value)
	if where, _, more := strings.Cut(value, "在"); more && where != "" {
		value = where // 公司订的酒店在西湖边上
	}
	value = syntax.TrimTails(value, "里", "里面", "那边")
	switch {
	case strings.Trim(discourse.ClipZh(value), syntax.DigitsZh+"楼层") == "": // 我家在二楼
		return discourse.NoAbode
	case syntax.EndsWithAny(value, passings[:]):
		return discourse.Passing
	case moved && (syntax.EndsWithAny(value, rooms[:]) || syntax.EndsWithAny(value, notPlaces[:])) || value == "一起" || strings.HasSuffix(value, "心里"):
		return discourse.NoAbode
	}
	return discourse.Dwelling
}

// employs reports whether somebody can work for value; in a district, people only work.
func employs(value string) bool {
	value = syntax.TrimZh(value)
	return value != "" && value != "公司" && value != "单位" && !syntax.StartsWithAny(value, []string{"一个", "同一"}) && !discourse.CitiesZh[value] && !syntax.EndsWithAny(value, notFirms[:]) && !strings.HasSuffix(value, "号")
}

// district reports whether s can be the name of a town, or of a part of one.
func district(s string) bool {
	n := utf8.RuneCountInString(s)
	return n >= 2 && n <= 5 && !strings.ContainsAny(s, "了过着得的，, 我你他她它家不这那哪") && !syntax.StartsWithAny(s, []string{"院", "校", "宿", "在", "处", "进", "满", "下", "一", "两", "几", "大", "小"}) &&
		!syntax.EndsWithAny(s, []string{"间", "房", "床", "店", "馆", "院", "舍", "铺", "子", "上", "下", "边", "里", "天", "晚", "月", "年", "夜", "楼", "层", "宿", "篷"})
}
