package syntax

import (
	"strings"
	"unicode/utf8"
)

// KinPrefixZh returns the longest word for a relative with which s begins, including 大, 二 or 小
// before it.
func KinPrefixZh(s string) string {
	longest := 0
	for _, order := range [...]string{"", "大", "二", "三", "小", "老"} {
		if after, ok := strings.CutPrefix(s, order); ok {
			if k := LongestZh(after, KinZh[:]); k != "" {
				longest = max(longest, len(order)+len(k))
			}
		}
	}
	if word, after := s[:longest], s[longest:]; word == "同学" && strings.HasPrefix(after, "会") && (after == "会" || StartsWithAny(after[len("会"):], []string{"定", "在", "是", "什", "几", "推", "改", "取", "呢", "去", "聚", "安排"})) {
		return "" // 同学会定在初四
	}
	return s[:longest]
}

// CommonNounsZh are words that begin like a name and are not names.
var CommonNounsZh = Set("高铁 周会 周末 周一 周二 周三 周四 周五 周六 周日 钱包 马路 方法 方案 时间 时候 白菜 黄瓜 金鱼 江边 石头 安全 全家 全部 余额 常常 成绩 车库 车子 车票 包子 包裹 " +
	"华为 文件 文章 白天 房子 房间 房东 明天 明年 应该 师傅 和我 和他 米饭 米粉 麦片 路上 路口 解决 简单 连续 冷气 商店 商场 查询 单位 单车 游戏 武汉 温度 宁波 苏州 郑州 柳州 徐州 温州 " +
	"黄山 泰山 华山 梅花 龙虾 牛奶 牛肉 马上 毛衣 毛巾 金子 石油 平时 向来 关于 任何 任务 于是 曾经 许多 程序 万一 易拉 古代 农村 成都 项目 项链 季节 季度 席位 宫保 党员 边上 卫生 时差 鲍鱼 柏林 沙发 沙滩 雷雨 田里 林子 范围 康复 汤圆 汤里 顾客 史上 龙井 夏天 严重 申请 关系 尚未 符合 兰花 焦虑 祝你 毕业 管理 管家 柴火 蓝色 白色 黄色 阳台 阳光 解释 全职 荣幸 房租 房贷 房产 车位 车贷 车险 车牌 车费 金额 高考 高中 包装 钱款 路费 安装 成品 白酒 平台 毛病 毛笔 马桶 马达 牛排 龙头 文具 汤锅 方向盘 古筝 古董 左边 左手 左眼 左腿 左脚 左耳 左膝 左肩 左侧 冷库 单子 单元 明信片 游泳 连衣裙 应酬 司机 计划 计算机 经费 储物 严格 简历 项圈 水管 水电 管道 管子 时钟 时装 贺卡 雷达 温泉 钟点工 于心 费用 童装 童车 盛饭 路灯 路由器 柜子 乐器 乐队 冷冻 冷藏 查出")

// PersonZh reports whether s can be somebody's name.
func PersonZh(s string) bool {
	rs := []rune(s)
	if len(rs) < 2 || len(rs) > 4 || CommonNounsZh[s] || CommonNounsZh[string(rs[:2])] || CommonZh(s) || strings.ContainsAny(s, "我你他她它说历") || strings.ContainsRune("上下里外", rs[len(rs)-1]) {
		return false
	}
	switch rs[0] {
	case '小', '老', '阿':
		return len(rs) == 2 && (rs[0] == '阿' || strings.ContainsRune(SurnamesZh, rs[1]) || rs[0] == '小' && calledSmall(rs[1])) || len(rs) == 3 && strings.ContainsRune(SurnamesZh, rs[1])
	}
	if rs[0] == rs[1] && len(rs) == 2 {
		return true // 丽丽
	}
	if rs[0] == '车' && strings.ContainsRune("送停开修被借卖坏丢撞没得要该还就也在", rs[1]) {
		return false
	}
	for _, title := range [...]string{"总", "哥", "姐", "叔", "姨", "婶", "工", "老师", "医生", "师傅", "先生", "女士", "太太", "阿姨", "大爷", "大妈", "经理", "主任", "教授"} {
		if head, ok := strings.CutSuffix(s, title); ok && head != "" {
			return strings.ContainsRune(SurnamesZh, []rune(head)[0]) && utf8.RuneCountInString(head) <= 2
		}
	}
	return strings.ContainsRune(SurnamesZh, rs[0]) && len(rs) <= 3 || GivenZh(s)
}

// givenZh are characters of which given names are made. Those of lastGivenZh are only at the end,
// those of firstGivenZh only at the beginning.
const (
	givenZh      = "伟强军勇杰涛明磊敏静丽娟艳娜秀英华慧雅玲芬燕凤洁梅琳云霞香媛佳嘉琼莉桂璐晶妍珊莎锦倩婷娴瑾颖露瑶怡蓓丹蓉琴蕊薇菁梦岚婕馨韵聪悦欣滢晓枫芸菲思刚峰辉健志海波宁国建彬斌鹏飞浩宇轩泽涵梓辰晨俊翔旭阳凯栋庆文雨雪诗若彤萱琪雯莹淑珍玉兰红博康达雷雄豪坤伦睿霖昊航奕皓熙振毅诚"
	firstGivenZh = "子美爱"
	lastGivenZh  = "平芳萍"
)

// notGivenZh are words of these characters that are no names.
var notGivenZh = Set("国庆 英国 英文 英雄 英豪 英俊 豪华 豪杰 波兰 芬兰 梅雨 雨露 晨露 海军 海宁 宁静 聪明 聪慧 聪颖 强健 刚强 雄伟 飞翔 波涛 文豪 博文 晶莹 文明 国军 国文 华丽 华文 阳康 丹阳 琼海 明晨 明文 雅思 建军 健康 宇航 航海 海航 雨雪 美国 美丽 美文 美军 爱国 海平 康宁 云梦 香云 明国 建文 飞航 航飞")

// GivenZh reports whether s is a given name of two characters: 雨欣, 志强, 大伟.
func GivenZh(s string) bool {
	rs := []rune(s)
	if len(rs) != 2 || notGivenZh[s] {
		return false
	}
	first := strings.ContainsRune(givenZh+firstGivenZh, rs[0]) || rs[0] == '大' && strings.ContainsRune("伟军勇鹏强刚", rs[1])
	return first && strings.ContainsRune(givenZh+lastGivenZh, rs[1])
}

// SexZh returns the sex that the characters of a Chinese name show; 0 if they don't.
func SexZh(name string) byte {
	switch last, _ := utf8.DecodeLastRuneInString(name); {
	case strings.ContainsRune("娟娜英慧玲芬燕凤梅琳霞香媛莉桂妍珊倩婷娴蓉薇婕滢芸菲莹淑珍丽丝妮萍芳静雪", last):
		return Female
	case strings.ContainsRune("伟强军勇杰涛磊刚峰辉斌鹏豪雄坤明建", last), strings.HasPrefix(name, "志"), strings.HasPrefix(name, "建"):
		return Male
	}
	return 0
}

// calledSmall reports whether a character of given names makes a name after 小: 小雯. 小雨 and 小康 are words.
func calledSmall(r rune) bool {
	return strings.ContainsRune(givenZh+lastGivenZh, r) && !strings.ContainsRune("雨雪国康海香梦露秀建庆航飞鹏琴健志聪宁豪强", r)
}

// CalledSmallZh reports whether s is a name for a child or a friend: 小雨, 小宝.
func CalledSmallZh(s string) bool {
	rs := []rune(s)
	return len(rs) == 2 && (rs[0] == '小' || rs[0] == '阿') && !CommonNounsZh[s] && !strings.ContainsRune("区组学店孩狗猫队班院镇村型说时件屋车菜吃费票路聚考长结测会年满", rs[1])
}
