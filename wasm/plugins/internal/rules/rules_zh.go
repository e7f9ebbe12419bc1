package rules

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// ruleZh knows phrases that say the same of somebody.
type ruleZh struct {
	kind, attribute string
	many, negates   bool
	phrases         []keyZh
}

// keyZh is a phrase: what stands before the key is the subject, what stands after it, up to until where that
// is set, the object.
type keyZh struct {
	key, until string
	confidence float64
}

// rulesZh in the order in which they are tried: the longer phrase first.
var rulesZh = [...]ruleZh{
	{"residence", "home", false, true, []keyZh{{"不住", "了", 0.85}, {"不住在", "", 0.88}, {"不在", "住", 0.85}}},
	{"work", "employer", false, true, []keyZh{{"不在", "工作", 0.88}, {"不在", "上班", 0.88}}},
	{"biography", "education", true, false, []keyZh{{"在", "留学", 0.85}, {"在", "读", 0.8}}},
	{"work", "employer", false, false, []keyZh{{"在", "做编辑", 0.85}}},
	{"habit", "volunteers_at", true, false, []keyZh{{"在", "做义工", 0.85}, {"在", "做志愿者", 0.85}, {"在", "当志愿者", 0.85}}},
	{"residence", "home", false, false, []keyZh{{"搬到了", "", 0.9}, {"搬到", "", 0.88}, {"搬回了", "", 0.85}, {"搬回", "", 0.85}, {"搬去了", "", 0.88}, {"搬去", "", 0.82}, {"搬来了", "", 0.85}, {"搬进了", "", 0.82}, {"住在", "", 0.92}, {"家在", "", 0.88}}},
	{"work", "employer", false, false, []keyZh{{"跳槽到了", "", 0.88}, {"跳槽到", "", 0.88}, {"跳槽去了", "", 0.88}, {"跳槽去", "", 0.88}, {"跳到了", "公司", 0.85}, {"跳到", "公司", 0.85}, {"换到", "上班", 0.85}, {"换到", "工作", 0.85}, {"入职了", "", 0.88}, {"入职", "", 0.85}}},
	{"work", "employer", false, true, []keyZh{{"从", "辞职", 0.88}}},
	{"work", "employer", false, false, []keyZh{{"在", "工作", 0.88}, {"在", "上班", 0.9}, {"在", "当", 0.8}}},
	{"biography", "worked_as", true, false, []keyZh{{"当过", "", 0.8}}},
	{"diet", "avoids", true, false, []keyZh{{"在戒", "", 0.8}}},
	{"biography", "education", true, false, []keyZh{{"毕业于", "", 0.92}, {"在", "读书", 0.82}, {"在", "上学", 0.85}}},
	{"biography", "grew_up_in", false, false, []keyZh{{"在", "长大", 0.9}}},
	{"biography", "birthplace", false, false, []keyZh{{"在", "出生", 0.9}, {"出生在", "", 0.9}, {"出生于", "", 0.9}}},
	{"biography", "education", true, false, []keyZh{{"从", "毕业", 0.9}, {"学的是", "", 0.88}}},
	{"biography", "origin", false, false, []keyZh{{"来自", "", 0.9}, {"老家在", "", 0.9}, {"老家是", "", 0.9}}},
	{"preference", "dislikes", true, false, []keyZh{{"对", "没什么兴趣", 0.85}, {"对", "没兴趣", 0.85}, {"对", "没有兴趣", 0.85}, {"对", "不感兴趣", 0.85}}},
	{"preference", "likes", true, false, []keyZh{{"对", "很感兴趣", 0.85}, {"对", "感兴趣", 0.85}}},
	{"allergy", "allergies", true, false, []keyZh{{"对", "不耐受", 0.9}}},
	{"allergy", "allergies", true, true, []keyZh{{"对", "已经不过敏", 0.9}, {"对", "不再过敏", 0.9}, {"对", "并不过敏", 0.9}, {"对", "没有过敏", 0.9}, {"对", "没过敏", 0.9}, {"对", "不过敏", 0.9}}},
	{"allergy", "allergies", true, false, []keyZh{{"对", "过敏", 0.93}}},
	{"diet", "avoids", true, false, []keyZh{{"不再吃", "", 0.88}, {"不再喝", "", 0.88}}},
	{"preference", "likes", true, true, []keyZh{{"不再喜欢", "", 0.85}}},
	{"preference", "dislikes", true, false, []keyZh{{"不喜欢吃", "", 0.9}, {"不喜欢喝", "", 0.9}, {"不太喜欢", "", 0.85}, {"不喜欢", "", 0.9}, {"不爱吃", "", 0.9}, {"不爱喝", "", 0.9}, {"不爱", "", 0.85}}},
	{"diet", "avoids", true, false, []keyZh{{"吃不了", "", 0.85}, {"喝不了", "", 0.85}}},
	{"preference", "dislikes", true, false, []keyZh{{"吃不惯", "", 0.85}, {"喝不惯", "", 0.85}, {"不怎么吃", "", 0.85}, {"不怎么喝", "", 0.85}, {"不怎么喜欢", "", 0.85}, {"讨厌", "", 0.9}, {"受不了", "", 0.85}}},
	{"preference", "likes", true, false, []keyZh{{"迷上了", "", 0.85}, {"爱上了", "", 0.8}, {"喜欢吃", "", 0.9}, {"喜欢喝", "", 0.9}, {"爱吃", "", 0.9}, {"爱喝", "", 0.9}, {"喜欢", "", 0.9}}},
	{"diet", "avoids", true, false, []keyZh{{"不吃", "", 0.88}, {"不能喝", "", 0.88}, {"不能吃", "", 0.88}, {"不喝", "", 0.88}, {"戒了", "", 0.85}}},
	{"diet", "diet", false, false, []keyZh{{"吃素", "", 0.9}}},
	{"biography", "speaks", true, false, []keyZh{{"会说", "", 0.85}}},
	{"relation", "marital_status", false, false, []keyZh{{"结婚了", "", 0.88}, {"离婚了", "", 0.88}}},
	{"work", "job", false, false, []keyZh{{"退休了", "", 0.88}}},
	{"diet", "avoids", true, false, []keyZh{{"戒烟", "", 0.88}, {"戒酒", "", 0.88}}},
	{"preference", "afraid_of", true, false, []keyZh{{"害怕", "", 0.85}, {"怕", "", 0.8}}},
	{"place", "location", false, false, []keyZh{{"忘在了", "", 0.85}, {"忘在", "", 0.85}, {"落在了", "", 0.85}, {"落在", "", 0.85}, {"丢在了", "", 0.85}, {"丢在", "", 0.85}, {"锁在", "", 0.85}, {"寄存在", "", 0.85}, {"寄放在", "", 0.85}, {"挂在", "", 0.85}, {"摆在", "", 0.85}, {"收在", "", 0.85}, {"搁在", "", 0.85}, {"塞在", "", 0.85}, {"藏到", "", 0.8}, {"放到", "", 0.8}, {"放在了", "", 0.85}, {"放在", "", 0.85}, {"停在", "", 0.85}, {"藏在", "", 0.85}}},
	{"family", "pets", true, false, []keyZh{{"养了", "", 0.9}}},
	{"possession", "owns", true, true, []keyZh{{"卖了", "", 0.75}}},
	{"possession", "owns", true, false, []keyZh{{"买了", "", 0.78}}},
	{"habit", "learning", true, false, []keyZh{{"正在学", "", 0.8}, {"在学", "", 0.75}}},
	{"habit", "plays", true, false, []keyZh{{"会弹", "", 0.85}}},
}

var kinZh = [...]string{"前女朋友", "前男朋友", "前女友", "前男友", "未婚妻", "未婚夫", "女朋友", "男朋友", "外公", "外婆", "爷爷", "奶奶", "姥姥", "姥爷", "姐姐", "妹妹", "哥哥", "弟弟", "爸爸", "妈妈", "父亲", "母亲", "老婆", "老公", "妻子", "丈夫", "先生", "太太", "儿子", "女儿", "表姐", "表妹", "表哥", "表弟", "堂姐", "堂妹", "堂哥", "堂弟", "叔叔", "阿姨", "姑姑", "舅舅", "老板", "经理", "同事", "室友", "房东", "邻居", "同学", "闺蜜", "朋友", "老师", "导师", "爸", "妈", "姐", "妹", "哥", "弟", "嫂子", "姐夫", "妹夫", "弟妹", "岳父", "岳母", "公公", "婆婆", "丈母娘", "老丈人", "侄子", "侄女", "外甥女", "外甥", "孙子", "孙女", "外孙", "伯伯", "姨妈", "姑妈", "大姨", "小姨", "大舅", "小舅", "大伯", "弟媳", "舅妈", "婶婶", "男友", "女友", "前任", "前夫", "前妻", "领导", "上司", "主管", "同桌", "队友", "合伙人", "教练", "医生", "大夫", "家教", "保姆", "师傅", "徒弟", "发小", "死党", "对象", "双胞胎", "爸妈", "父母", "孩子", "狗", "猫", "兔子", "仓鼠", "鹦鹉", "乌龟", "孩子", "宝宝"}

var jobsZh = [...]string{"医生", "老师", "教师", "工程师", "设计师", "律师", "护士", "厨师", "会计", "司机", "记者", "学生", "程序员", "软件开发人员", "开发人员", "软件工程师", "建筑师", "翻译", "教授", "经理", "演员", "摄影师", "作家", "画家", "警察", "牙医", "研究员", "产品经理", "顾问", "咖啡师", "药剂师", "编辑", "导演", "消防员", "公务员", "销售", "护工", "军人", "飞行员", "空姐", "电工", "木匠", "理发师", "健身教练", "教练", "老板", "自由职业者", "博士", "研究生", "大学生", "高中生", "兽医", "保安", "快递员", "主播", "科学家", "运动员", "音乐家", "歌手", "舞蹈老师", "心理咨询师", "插画师", "木工", "店长"}

func stripLeadZh(s string) string {
	for again := true; again; {
		again = false
		s = strings.TrimLeft(s, " ，,、")
		for _, l := range [...]string{"对了", "其实", "那个", "嗯", "哦", "啊", "所以", "但是", "不过", "而且", "因为", "然后", "就是", "告诉你", "你知道吗", "话说", "顺便说一下", "原来", "好像", "听说", "可是", "还有", "另外", "我觉得", "说起来", "没想到", "也就是说", "忘了说"} {
			if r, ok := strings.CutPrefix(s, l); ok && r != "" {
				s, again = r, true
			}
		}
	}
	return s
}

func trimZh(s string) string {
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

func commonZh(s string) bool {
	return strings.HasSuffix(s, "的") || strings.HasSuffix(s, "是") || startsWithAny(s, []string{"这", "那", "大家", "他们", "她们", "有人", "没", "不", "要", "会", "很", "都", "也", "可", "能", "想", "如果", "什么", "是", "有", "的", "在", "和", "对", "把", "一"})
}

func trimAdverbsZh(s string) string {
	for again := true; again; {
		again = false
		for _, a := range [...]string{"现在", "已经", "也", "都", "很", "就", "一直", "还", "特别", "非常", "真的", "最近", "以前", "平时", "经常", "刚刚", "刚", "终于", "最", "从小", "超级", "超", "挺", "比较", "再", "目前", "真", "从来", "是", "太", "大学", "研究生", "打算", "更", "有点", "蛮", "要", "会", "这个人", "小时候", "的时候", "期末", "期中", "正式", "可能", "好像", "大概", "也许", "估计", "应该", "似乎", "其实", "并", "根本", "原来", "后来"} {
			if r, ok := strings.CutSuffix(s, a); ok {
				s, again = strings.TrimSpace(r), true
			}
		}
	}
	return s
}

func vagueZh(s string) bool {
	return startsWithAny(s, []string{"你", "什么", "哪"}) || slices.Contains([]string{"这样", "那样", "这个", "那个", "他", "她", "它", "这里", "那里", "这儿", "那儿", "这", "那", "了", "过", "完", "吧"}, s)
}
