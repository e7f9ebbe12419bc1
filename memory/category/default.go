package category

import "strings"

// Default returns the categories of a node whose owner has defined none. The names are those that
// Mem0's hosted service has by default.
func Default() []Category {
	words := strings.Fields
	return []Category{
		{"personal_details", words("birthday born age name nationality passport address 生日 出生 岁 名字 地址"),
			words("home origin birthplace birthday age name languages language")},
		{"family", words("family mother father mum mom dad parent sister brother son daughter wife husband cousin aunt uncle grandmother grandfather niece nephew baby kid child children 家人 妈妈 爸爸 母亲 父亲 姐姐 妹妹 哥哥 弟弟 儿子 女儿 妻子 老婆 丈夫 老公 奶奶 爷爷 外婆 外公 孩子"),
			words("spouse partner sister brother mother father son daughter child children pet pets")},
		{"friends", words("friend neighbour neighbor roommate classmate buddy 朋友 邻居 室友 同学"), words("friend")},
		{"work", words("work job employer company office boss colleague manager project meeting client salary career interview 工作 公司 老板 同事 项目 会议 客户 工资 面试"),
			words("employer job occupation colleague manager")},
		{"education", words("school university college class course exam study degree teacher student homework 学校 大学 课 考试 学习 老师 学生 作业"),
			words("school studies degree")},
		{"health", words("doctor dentist hospital medicine pill allergy allergic ill sick pain therapy diet weight sleep clinic medication prescription tablet painkiller aspirin ibuprofen paracetamol antibiotic insulin migraine headache toothache fever flu asthma diabetes symptom diagnosis surgery 医生 牙医 医院 药 过敏 生病 疼 睡眠 体检 头痛 胃痛 阿司匹林 布洛芬 胰岛素 服用 胶囊 发烧 感冒 哮喘 糖尿病 高血压 手术"),
			words("allergy diet condition medication doctor")},
		{"food", words("food eat ate drink cook dinner lunch breakfast restaurant recipe coffee tea vegetarian vegan meat fish bread cake wine beer 吃 喝 饭 菜 餐厅 咖啡 茶 素食 早餐 午餐 晚餐 蛋糕"),
			words("diet allergy")},
		{"travel", words("travel trip flight airport hotel train holiday vacation visa abroad beach tour ticket 旅行 旅游 航班 机场 酒店 火车 假期 签证 出国"), nil},
		{"sports", append(words("sport football soccer tennis basketball swim runner jog jogging marathon gym yoga climb bike cycling hike ski 运动 足球 网球 篮球 游泳 跑步 健身 瑜伽 爬山 骑车 滑雪"), runs...), nil},
		{"music", words("music song guitar piano violin band concert sing album 音乐 歌 吉他 钢琴 乐队 演唱会"), nil},
		{"entertainment", words("film movie series book novel game theatre cinema museum painting 电影 电视剧 书 小说 游戏 剧院 博物馆"), nil},
		{"hobbies", words("hobby garden gardening pottery paint photography knit chess collect volunteer 爱好 花园 陶艺 画画 摄影 下棋 收藏"), nil},
		{"technology", words("phone laptop computer software app wifi router server printer code 手机 电脑 软件 路由器 服务器 打印机 代码"), nil},
		{"home", words("house flat apartment kitchen rent landlord furniture key fridge boiler heating plumber 房子 公寓 厨房 房租 房东 家具 钥匙 冰箱 暖气"),
			words("home located")},
		{"money", words("bank money pay paid bill invoice tax loan price insurance 银行 钱 付 账单 发票 税 贷款 保险"), nil},
		{"plans", words("plan appointment tomorrow reminder deadline promise 计划 预约 明天 提醒 截止"), words("appointment plan promise meeting")},
		{"preferences", words("like love prefer favourite favorite hate dislike enjoy 喜欢 最爱 讨厌"), words("likes dislikes prefers favourite")},
	}
}

// runs are phrases in which running is a sport. A machine, a tap and a battery run, too.
var runs = []string{"go running", "goes running", "going running", "went running", "gone running", "like running", "likes running", "loves running", "love running",
	"enjoys running", "hates running", "started running", "stopped running", "running shoes", "running club", "running group", "running race"}
