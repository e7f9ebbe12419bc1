package rules

import (
	"strings"
	"unicode/utf8"
)

// A Chinese clause often has no subject: it belongs to whom the clause before
// it names. topic is that person; unclear is set where the clause before is
// about somebody whom no rule can name, so that nothing is said of the speaker.
type topic struct {
	person  person
	known   bool
	unclear bool
	thing   bool // unclear, and a thing of the person's: 我女儿的学校
}

// subjectless gives whom a clause without a subject is about.
func (t *talk) subjectlessZh() (person, bool) {
	switch {
	case t.topic.unclear:
		return person{}, false
	case t.topic.known:
		return t.topic.person, true
	}
	return t.self, true // Chinese drops "I"
}

func (t *talk) about(p person) {
	t.topic = topic{person: p, known: true}
	if p.key != t.self.key {
		t.persons = append(t.persons, met{p, -1})
	}
}

// attend looks at whom a clause begins with, and keeps it in mind for those
// that follow.
func (t *talk) attend(x string) {
	x = stripLeadZh(x)
	for again := true; again; {
		again = false
		for _, a := range [...]string{"现在", "以前", "目前", "最近", "已经", "平时", "今年", "去年"} {
			if r, ok := strings.CutPrefix(x, a); ok {
				x, again = r, true
			}
		}
	}
	rest, own := cutOwnZh(strings.TrimPrefix(x, "新"))
	if own {
		rest = trimAgeZh(rest)
	}
	k := kinPrefixZh(rest)
	there, introduced := t.introducedZh(x)
	switch {
	case introduced:
		t.about(there)
	case frontZh(x):
		t.about(t.self)
	case own && neighbourZh(rest) != "":
		t.about(person{neighbourZh(rest), neighbourZh(rest)})
	case !own && hasMeZh(x):
		t.about(t.self)
	case !own && (strings.HasPrefix(x, "他") || strings.HasPrefix(x, "她")):
		if !t.topic.known || t.topic.person.key == t.self.key { // 她是绵阳的，在医院当护士: not the speaker
			p, ok := t.absentZh()
			t.topic = topic{person: p, known: ok, unclear: !ok}
		}
	case !own && (strings.HasPrefix(x, "你") || strings.HasPrefix(x, "您")):
		p, ok := t.addressee()
		t.topic = topic{person: p, known: ok, unclear: !ok}
	case !own && k != "" && strings.ContainsAny(x[len(k):], "你您"):
		t.topic = topic{unclear: true} // 外婆送你上学: whose?
	case k != "" && (own || utf8.RuneCountInString(k) > 1 && k != "师傅"):
		p := person{t.self.name + "的" + k, t.self.key + "的" + k}
		after := rest[len(k):]
		for strings.HasPrefix(after, "的") { // 我姐夫的老板: whose, and what
			k = kinPrefixZh(after[len("的"):])
			if k == "" {
				t.topic = topic{person: p, unclear: true, thing: true}
				return
			}
			p = person{p.name + "的" + k, p.key + "的" + k}
			after = after[len("的")+len(k):]
		}
		if name := namePrefixZh(after); name != "" {
			p = t.named(name)
		}
		t.about(p)
	case own || strings.HasPrefix(x, "轮到我"):
		t.about(t.self)
	case afterwardsZh(x):
		t.about(t.self) // 下班后我要去接孩子
	case familyZh(x) != "":
		t.about(person{familyZh(x), familyZh(x)})
	case neighbourZh(x) != "":
		t.about(person{neighbourZh(x), neighbourZh(x)})
	default:
		if name := namePrefixZh(x); name != "" {
			t.about(t.named(name))
			return
		}
		if name := allergicZh(x); name != "" {
			t.about(t.named(name))
			return
		}
		head := x
		for _, verb := range [...]string{"是", "在", "叫", "姓", "对", "有", "说", "住", "不"} {
			head, _, _ = strings.Cut(head, verb)
		}
		if of := strings.LastIndex(head, "的"); of > 0 && personZh(head[of+len("的"):]) { // 隔壁的小陈
			t.about(t.named(head[of+len("的"):]))
			return
		}
		if r, _ := utf8.DecodeRuneInString(head); strings.ContainsRune(verbStartsZh+"给帮陪约见接送向找问带替为得应可先再等跟", r) {
			return // what is done, not who does it
		}
		for _, who := range [...]string{"他", "她", "人", "谁", "家"} {
			if strings.Contains(head, who) {
				t.topic = topic{unclear: true}
			}
		}
		for _, list := range [...][]string{kinZh[:], jobsZh[:]} {
			for _, who := range list {
				_, after, there := strings.Cut(head, who)
				if utf8.RuneCountInString(who) > 1 && there && !ofVisitZh(after) {
					t.topic = topic{unclear: true}
				}
			}
		}
	}
}

// hasMeZh reports what others have the speaker do: 他们让我二月一号开始上班.
func hasMeZh(x string) bool {
	who, _, ok := strings.Cut(x, "让我")
	return ok && (who == "他们" || who == "她们" || who == "公司" || who == "学校" || who == "医院")
}

// familyZh is the family that a clause begins with: 米勒一家来吃饭.
func familyZh(x string) string {
	who, what, ok := strings.Cut(x, "一家")
	what = strings.TrimPrefix(what, "人")
	if !ok || !personZh(who) && !foreignZh(who) || !startsWithAny(what, []string{"来", "去", "要", "搬", "住", "不", "下", "明", "周", "今", "都", "会"}) {
		return ""
	}
	return who + "一家"
}

// afterwardsZh reports a clause of the speaker's behind a point of the day: 下班后我.
func afterwardsZh(x string) bool {
	when, _, ok := strings.Cut(x, "我")
	return ok && utf8.RuneCountInString(when) <= 5 && kinPrefixZh(when) == "" && endsWithAny(when, []string{"后", "前", "时候"})
}

// ofVisitZh reports whether what follows a person's job makes it a visit there,
// which is the speaker's: 牙医预约.
func ofVisitZh(after string) bool {
	after = strings.TrimPrefix(after, "的")
	return startsWithAny(after, []string{"预约", "约", "诊所", "那儿", "那里", "那边", "电话"})
}

// kinPrefixZh is the longest word for a relative that s begins with, 大, 二 or
// 小 before it included.
func kinPrefixZh(s string) string {
	longest := 0
	for _, order := range [...]string{"", "大", "二", "三", "小", "老"} {
		if after, ok := strings.CutPrefix(s, order); ok {
			if k := longestZh(after, kinZh[:]); k != "" {
				longest = max(longest, len(order)+len(k))
			}
		}
	}
	return s[:longest]
}

// surnamesZh are the most frequent ones, which leave few people out.
const surnamesZh = "王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾萧肖田董袁潘于蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭陆汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤温康施文牛樊葛邢安齐易乔伍庞颜倪庄聂章鲁岳翟殷詹申欧耿关兰焦俞左柳甘祝包宁尚符舒阮柯纪梅童凌毕单季裴霍涂成苗谷盛曲翁冉骆蓝路游辛靳欧管柴蒙鲍华喻祁蒲房滕屈饶解牟艾尤阳时穆农司卓古吉缪简车项连芦麦褚娄窦戚岑景党宫费卜冷晏席卫米柏宗瞿桂全佟应臧闵苟邬边卞姬师和仇栾隋商刁沙荣巫寇桑郎甄丛仲虞敖巩明佘池查麻苑迟邝"

// commonNounsZh begin like a name and are none.
var commonNounsZh = set("高铁 周会 周末 周一 周二 周三 周四 周五 周六 周日 钱包 马路 方法 方案 时间 时候 白菜 黄瓜 金鱼 江边 石头 安全 全家 全部 余额 常常 成绩 车库 车子 车票 包子 包裹 " +
	"华为 文件 文章 白天 房子 房间 房东 明天 明年 应该 师傅 和我 和他 米饭 米粉 麦片 路上 路口 解决 简单 连续 冷气 商店 商场 查询 单位 单车 游戏 武汉 温度 宁波 苏州 郑州 柳州 徐州 温州 " +
	"黄山 泰山 华山 梅花 龙虾 牛奶 牛肉 马上 毛衣 毛巾 金子 石油 平时 向来 关于 任何 任务 于是 曾经 许多 程序 万一 易拉 古代 农村 成都 项目 项链 季节 季度 席位 宫保 党员 边上 卫生 时差 鲍鱼 柏林 沙发 沙滩 雷雨 田里 林子 范围 康复 汤圆 汤里 顾客 史上 龙井 夏天 严重 申请 关系 尚未 符合 兰花 焦虑 祝你 毕业 管理 管家 柴火 蓝色 白色 黄色 阳台 阳光 解释 全职 荣幸 房租 房贷 房产 车位 车贷 车险 车牌 车费 金额 高考 高中 包装 钱款 路费 安装 成品 白酒 平台 毛病 毛笔 马桶 马达 牛排 龙头 文具 汤锅 方向盘 古筝 古董 左边 左手 左眼 左腿 左脚 左耳 左膝 左肩 左侧 冷库 单子 单元 明信片 游泳 连衣裙 应酬 司机 计划 计算机 经费 储物 严格 简历 项圈 水管 水电 管道 管子 时钟 时装 贺卡 雷达 温泉 钟点工 于心 费用 童装 童车 盛饭 路灯 路由器 柜子 乐器 乐队")

// verbStartsZh are characters that a predicate begins with.
const verbStartsZh = "是在住叫姓对有不喜爱的也去来搬说要会今昨明从把被跟和很都就还已最刚没今年想能养买卖做学教开吃喝怕讨戒毕出生退结离怀过快病走回到打"

// namePrefixZh is the name that s begins with, before a predicate: 小王, 老李,
// 阿强, 李娜, 王小明. It is "" where there is none.
func namePrefixZh(s string) string {
	if !utf8.ValidString(s) {
		return ""
	}
	rs := []rune(s)
	for n := min(4, len(rs)-1); n >= 2; n-- {
		if foreignZh(string(rs[:n])) && startsWithAny(string(rs[n:]), []string{"来不了", "去不了", "来吃", "来家", "要来", "生了", "怀孕", "发烧", "病了", "住院", "住在", "结婚", "离婚"}) {
			return string(rs[:n])
		}
	}
	for _, n := range [...]int{3, 2} {
		if n == 3 && len(rs) > n && strings.ContainsRune("要会也都就没不还已在对被把跟说", rs[2]) {
			continue // 王伟要来
		}
		if len(rs) > n && strings.ContainsRune(verbStartsZh+"请送帮约陪带告", rs[n]) && personZh(string(rs[:n])) {
			return string(rs[:n])
		}
	}
	return ""
}

// notForeignZh are written with [soundsZh], too, and are no persons.
var notForeignZh = set("罗马 米兰 利马 安卡拉 布拉格 特斯拉 奥迪 雷克萨斯 特拉维夫 达拉斯 丹佛 芬兰 罗马尼亚 尼斯 拉萨 苏格兰 奥利奥 伊利 温布利 马拉 保安 保姆 安保 雷达 达菲 萨克斯 卡罗拉 雷诺 保利 安利 奥特曼 达利 德文 丹麦 伊拉克 佛罗伦萨 德克萨斯 伊斯兰 保温 伦理 拉菲 芬达 凯迪拉克 劳斯莱斯 玛莎拉蒂")

// foreignZh reports somebody of another country: 奥斯卡, 玛丽.
func foreignZh(s string) bool {
	return transliterated(s) && utf8.RuneCountInString(s) <= 4 && !notForeignZh[s] && !citiesZh[s]
}

// personZh reports whether s can be what somebody is called.
func personZh(s string) bool {
	rs := []rune(s)
	if len(rs) < 2 || len(rs) > 4 || commonNounsZh[s] || commonNounsZh[string(rs[:2])] || commonZh(s) || strings.ContainsAny(s, "我你他她它说历曆") {
		return false
	}
	switch rs[0] {
	case '小', '老', '阿':
		return len(rs) == 2 && (rs[0] == '阿' || strings.ContainsRune(surnamesZh, rs[1])) || len(rs) == 3 && strings.ContainsRune(surnamesZh, rs[1])
	}
	if rs[0] == rs[1] && len(rs) == 2 {
		return true // 丽丽
	}
	if rs[0] == '车' && strings.ContainsRune("送停开修被借卖坏丢撞没得要该还就也在", rs[1]) {
		return false
	}
	for _, title := range [...]string{"总", "哥", "姐", "叔", "姨", "婶", "工", "老师", "医生", "师傅", "先生", "女士", "太太", "阿姨", "大爷", "大妈", "经理", "主任", "教授"} {
		if head, ok := strings.CutSuffix(s, title); ok && head != "" {
			return strings.ContainsRune(surnamesZh, []rune(head)[0]) && utf8.RuneCountInString(head) <= 2
		}
	}
	return strings.ContainsRune(surnamesZh, rs[0]) && len(rs) <= 3
}
