package syntax

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// SurnamesZh are the most frequent surnames, which leave few people out.
const SurnamesZh = "王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾萧肖田董袁潘于蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭陆汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤温康施文牛樊葛邢安齐易乔伍庞颜倪庄聂章鲁岳翟殷詹申欧耿关兰焦俞左柳甘祝包宁尚符舒阮柯纪梅童凌毕单季裴霍涂成苗谷盛曲翁冉骆蓝路游辛靳欧管柴蒙鲍华喻祁蒲房滕屈饶解牟艾尤阳时穆农司卓古吉缪简车项连芦麦褚娄窦戚岑景党宫费卜冷晏席卫米柏宗瞿桂全佟应臧闵苟邬边卞姬师和仇栾隋商刁沙荣巫寇桑郎甄丛仲虞敖巩明佘池查麻苑迟邝"

// KinZh are words for relatives and partners, the longer first.
var KinZh = [...]string{"前女朋友", "前男朋友", "前女友", "前男友", "未婚妻", "未婚夫", "女朋友", "男朋友", "外公", "外婆", "爷爷", "奶奶", "姥姥", "姥爷", "姐姐", "妹妹", "哥哥", "弟弟", "爸爸", "妈妈", "父亲", "母亲", "老婆", "老公", "妻子", "丈夫", "先生", "太太", "儿子", "女儿", "闺女", "娃", "表姐", "表妹", "表哥", "表弟", "堂姐", "堂妹", "堂哥", "堂弟", "叔叔", "阿姨", "姑姑", "舅舅", "老板", "经理", "同事", "室友", "房东", "邻居", "同学", "闺蜜", "朋友", "老师", "导师", "爸", "妈", "姐", "妹", "哥", "弟", "嫂子", "姐夫", "妹夫", "弟妹", "岳父", "岳母", "公公", "婆婆", "丈母娘", "老丈人", "侄子", "侄女", "外甥女", "外甥", "孙子", "孙女", "外孙", "伯伯", "姨妈", "姑妈", "大姨", "小姨", "大舅", "小舅", "大伯", "弟媳", "舅妈", "婶婶", "媳妇", "爱人", "儿媳", "儿媳妇", "小姨子", "大姨子", "小舅子", "大舅子", "小叔子", "小姑子", "大姑子", "女婿", "老伴", "姑父", "姨父", "伯母", "男友", "女友", "前任", "前夫", "前妻", "领导", "上司", "主管", "同桌", "队友", "合伙人", "教练", "医生", "大夫", "家教", "保姆", "护工阿姨", "护工", "月嫂", "钟点工", "师傅", "徒弟", "发小", "死党", "对象", "双胞胎", "爸妈", "父母", "孩子他爸", "孩子他妈", "孩子他爷爷", "孩子他奶奶", "孩子他姥姥", "孩子他姥爷", "孩子他姑", "孩子他舅", "孩子姥姥", "孩子姥爷", "孩子爸", "孩子妈", "孩子爷爷", "孩子奶奶", "孩儿他爸", "孩儿他妈", "弟媳妇儿", "弟媳妇", "媳妇儿", "孩子", "狗", "猫", "兔子", "仓鼠", "鹦鹉", "乌龟", "孩子", "宝宝", "公子", "千金", "夫人", "小孩", "老大", "老二", "老三", "二姨", "三姨", "二舅", "三舅", "二叔", "三叔", "大姑", "二姑", "三姑", "二伯", "大嫂", "二嫂"}

// JobsZh are what people do for a living.
var JobsZh = [...]string{"医生", "老师", "教师", "工程师", "设计师", "律师", "护士", "厨师", "会计", "司机", "记者", "学生", "程序员", "软件开发人员", "开发人员", "软件工程师", "建筑师", "翻译", "教授", "经理", "演员", "摄影师", "作家", "画家", "警察", "牙医", "研究员", "产品经理", "顾问", "咖啡师", "药剂师", "编辑", "导演", "消防员", "公务员", "销售", "护工", "军人", "飞行员", "空姐", "电工", "木匠", "理发师", "健身教练", "教练", "老板", "自由职业者", "博士", "研究生", "大学生", "高中生", "兽医", "保安", "快递员", "主播", "科学家", "运动员", "音乐家", "歌手", "舞蹈老师", "心理咨询师", "插画师", "木工", "店长"}

// LeadZh returns the number of tokens with which a speaker only begins to speak: 我跟你说啊.
func LeadZh(s Sentence) int {
	from := 0
	for s.At(from) != "" && strings.Contains("呃嗯哦哎诶，, ", s.At(from)) {
		from++
	}
	if x := s.From(from); strings.HasPrefix(x, "对") && StripLeadZh(x) == x[min(len(x), len("对")):] && len(x) > len("对") {
		return from + 1
	}
	if n := CalledZh(s.From(from)); n > 0 {
		return from + n
	}
	if s.At(from) == "那" && s.At(from+1) == "我" && s.At(from+2) != "们" {
		return from + 1
	}
	_, n := PrefixZh(s, from, "那个我跟你说个事", "那个我跟你说", "那个我跟你讲", "我跟你说个事", "跟你说个事", "我跟你说", "我跟你讲", "我想一下啊", "我想想啊", "我想想，")
	if n == 0 {
		return 0
	}
	for n += from; n < len(s.Toks) && strings.Contains("啊哈呀，, ", s.At(n)); {
		n++
	}
	if n == len(s.Toks) {
		return 0
	}
	return n
}

// calledZh are words with which people call somebody before they say something.
var calledZh = []string{"爸爸", "妈妈", "爸", "妈", "老婆", "老公", "爷爷", "奶奶", "姥姥", "姥爷", "外公", "外婆", "哥", "姐", "叔叔", "阿姨", "老板", "亲爱的"}

// CalledZh returns how many characters name somebody who is called, before 我 or 你: 妈我今晚不回家,
// 李哥我明天请假. What is done for them may follow: 妈我去接.
func CalledZh(x string) int {
	for _, he := range [...]string{"我", "你"} {
		who, rest, ok := strings.Cut(x, he)
		n := utf8.RuneCountInString(who)
		if !ok || n == 0 || n > 3 || strings.HasPrefix(rest, "们") && he == "你" || rest == "" {
			continue
		}
		titled := n == 2 && EndsWithAny(who, []string{"哥", "姐", "总", "叔", "姨"}) || n > 2 && EndsWithAny(who, []string{"老师", "医生", "师傅", "主任", "经理"})
		if !slices.Contains(calledZh, who) && !(titled && PersonZh(who)) {
			continue
		}
		if EndsWithAny(TrimZh(rest), []string{"接", "送", "陪", "带", "照顾", "管", "养", "劝", "接走", "说过", "问过", "联系"}) {
			return 0
		}
		return n
	}
	return 0
}

// CalledFirstZh returns how many characters at the beginning name somebody who may be called: 老婆,
// 李哥.
func CalledFirstZh(x string) int {
	if who := LongestZh(x, calledZh); who != "" {
		return utf8.RuneCountInString(who)
	}
	if rs := []rune(x); len(rs) > 2 && strings.ContainsRune("哥姐总叔姨", rs[1]) && PersonZh(string(rs[:2])) {
		return 2
	}
	return 0
}

// StripLeadZh removes the words with which a Chinese speaker begins: 对了, 那个.
func StripLeadZh(s string) string {
	for again := true; again; {
		again = false
		s = strings.TrimLeft(s, " ，,、")
		for _, l := range [...]string{"对了", "嗯对", "哦对", "对对对", "对对", "是是", "好好好", "其实", "那个", "嗯", "哦", "啊", "呃", "哎哟", "哎呀", "哎", "诶", "欸", "唉", "我跟你说", "我跟你讲", "我想一下啊", "我想想啊", "我想想，", "所以", "但是", "不过", "而且", "因为", "然后", "就是说", "就是", "告诉你", "你知道吗", "话说", "顺便说一下", "原来", "好像", "听说", "可是", "还有", "另外", "我觉得", "说起来", "没想到", "也就是说", "忘了说", "我是说", "我的意思是", "主要是", "问题是", "反正", "幸好", "还好", "怎么说呢", "总之"} {
			if r, ok := strings.CutPrefix(s, l); ok && r != "" && !(l == "还有" && strings.TrimLeft(r, DigitsZh) != r && StartsWithAny(strings.TrimLeft(r, DigitsZh), []string{"天", "周", "个月", "年", "个星期", "个礼拜"})) && (l != "不过" || !StartsWithAny(r, []string{"敏", "期", "关", "分", "年", "节", "生日"})) {
				s, again = r, true
			}
		}
		for _, keep := range [...]string{"请记住", "帮我记住", "帮我记一下", "记一下", "记住", "跟她说", "跟他说", "告诉她", "告诉他", "跟他们说", "告诉他们"} {
			if r, ok := strings.CutPrefix(s, keep); ok && strings.HasPrefix(strings.TrimLeft(r, " ，,："), "我") {
				s, again = strings.TrimLeft(r, " ，,："), true
			}
		}
	}
	if r, ok := strings.CutPrefix(s, "对"); ok && StartsWithAny(r, []string{"上个月", "上周", "去年", "昨天", "前天", "前年"}) && strings.Contains(r, "了") && !strings.Contains(r, "的") {
		s = r // 对上个月去了五天
	}
	for n := CalledZh(s); n > 0; n-- {
		_, width := utf8.DecodeRuneInString(s)
		s = s[width:]
	}
	if r, ok := strings.CutPrefix(s, "那我"); ok && r != "" && !strings.HasPrefix(r, "们") {
		s = s[len("那"):]
	}
	return s
}

// TrimZh removes marks and particles at both ends of a Chinese text.
func TrimZh(s string) string {
	s = strings.Trim(s, " ，,、。")
	for again := true; again; {
		again = false
		for _, l := range [...]string{"了", "吧", "呢", "啊", "呀", "哦", "嘛", "的", "啦", "而已", "左右"} {
			if r, ok := strings.CutSuffix(s, l); ok && r != "" && !(l == "的" && utf8.RuneCountInString(r) < 2) {
				s, again = strings.TrimSpace(r), true
			}
		}
	}
	return s
}

// CommonZh reports whether a text begins or ends unlike any name.
func CommonZh(s string) bool {
	return strings.HasSuffix(s, "的") || strings.HasSuffix(s, "是") || StartsWithAny(s, []string{"这", "那", "大家", "他们", "她们", "有人", "没", "不", "要", "会", "很", "都", "也", "可", "能", "想", "如果", "什么", "是", "有", "的", "在", "和", "对", "把", "一"})
}

// TrimAdverbsZh removes the adverbs with which a Chinese text begins.
func TrimAdverbsZh(s string) string {
	for again := true; again; {
		again = false
		for _, a := range [...]string{"现在", "已经", "也", "都", "很", "就", "一直", "还", "特别", "非常", "真的", "最近", "以前", "平时", "经常", "刚刚", "刚", "终于", "最", "从小", "超级", "超", "挺", "比较", "再", "目前", "真", "从来", "是", "太", "大学", "研究生", "打算", "更", "有点", "蛮", "要", "会", "这个人", "小时候", "的时候", "期末", "期中", "正式", "可能", "好像", "大概", "也许", "估计", "应该", "似乎", "其实", "并", "根本", "原来", "后来", "开始"} {
			if r, ok := strings.CutSuffix(s, a); ok && !(a == "太" && strings.HasSuffix(r, "太")) && !(strings.Contains("超真挺", a) && utf8.RuneCountInString(r) == 1 && strings.Contains(SurnamesZh, r)) { // 太太, 马超
				s, again = strings.TrimSpace(r), true
			}
		}
	}
	return s
}

// VagueZh reports whether a word does not say what it stands for: 这个, 那样.
func VagueZh(s string) bool {
	return StartsWithAny(s, []string{"你", "什么", "哪", "老地方"}) || slices.Contains([]string{"这样", "那样", "这个", "那个", "他", "她", "它", "这里", "那里", "这儿", "那儿", "这", "那", "了", "过", "完", "吧"}, s)
}

// LongestZh returns the longest of words with which x begins, or "".
func LongestZh(x string, words []string) (longest string) {
	for _, w := range words {
		if strings.HasPrefix(x, w) && len(w) > len(longest) {
			longest = w
		}
	}
	return longest
}

// Compounds makes a replacer that removes each of the words. A verb and a particle that only happen
// to be next to each other stay: 喝酒吧.
func Compounds(words string) *strings.Replacer {
	pairs := []string{"喝酒吧", "喝酒，吧"}
	for _, w := range strings.Fields(words) {
		pairs = append(pairs, w, "  ")
	}
	return strings.NewReplacer(pairs...)
}

// HasHan reports whether a text has a Chinese character.
func HasHan(s string) bool { return strings.ContainsFunc(s, IsHan) }
