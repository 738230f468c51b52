//! The commonest attacks in other languages. Chinese and Japanese count characters instead of words.

use super::{Check, Rule, Within};
use crate::scan::Scope;

const fn rule(id: &'static str, phrases: &'static [&'static str]) -> Rule {
    Rule { id, scope: Scope::All, within: Within::Sentence, check: Check::NotNegated, phrases }
}

pub(super) const RULES: [Rule; 3] = [
    rule(
        "prompt_injection",
        &[
            // German
            "ignoriere|ignorier|ignorieren|vergiss|vergesst|vergessen|missachte|missachten|verwirf ~4 vorherige*|vorige*|bisherige*|obige*|frühere*|vorangegangene*|vorstehende*|ursprüngliche* ~2 anweisung*|instruktion*|befehl*|vorgabe*|anordnung*|prompt*",
            "ignoriere|ignorier|ignorieren|vergiss|missachte|missachten ~1 alle|sämtliche ~1 anweisungen|instruktionen|befehle",
            "vergiss|vergesst|ignoriere ~1 alles ~2 gesagt|aufgetragen|davor|zuvor|bisher*",
            // French
            "ignore|ignorez|ignorer|oublie|oubliez|oublier ~4 instructions|consignes|directives|ordres ~3 précédent*|antérieur*|dessus|initial*|origine|reçues",
            "ignore|ignorez|oublie|oubliez ~1 toutes|tous ~2 instructions|consignes|directives|ordres",
            // Spanish
            "ignora|ignore|ignorar|ignorad|olvida|olvide|olvidar|descarta ~4 instrucciones|indicaciones|órdenes|directrices ~3 anteriores|previas|precedentes|iniciales|originales",
            "ignora|ignore|olvida|olvide ~1 todas ~2 instrucciones|indicaciones|órdenes",
            // Italian and Portuguese
            "ignora|ignorate|dimentica|dimenticate ~4 istruzioni|indicazioni|ordini ~2 precedenti|iniziali|originali",
            "ignore|ignora|esqueça|esquece|desconsidere ~4 instruções|ordens|orientações ~2 anteriores|prévias|originais",
            // Russian and Ukrainian
            "игнорируй*|проигнорируй*|забудь*|отбрось*|ігноруй*|проігноруй* ~4 предыдущ*|прежн*|вышеуказанн*|ранее|прошл*|исходн*|системн*|попередн* ~3 инструкци*|указани*|команд*|распоряжени*|промпт*|інструкці*|вказівк*",
            "игнорируй*|проигнорируй*|забудь* ~1 все ~2 инструкци*|указани*|распоряжени*",
            // Chinese, simplified and traditional
            "忽略|无视|無視|忘记|忘記|忘掉|抛弃|不要理会|不要遵守|不要遵循 ~6 之前|先前|以前|上述|以上|前面|此前|原有|原来|系统|系統|原先 ~6 指令|指示|提示|命令|要求|规则|規則",
            "忽略|无视|無視|忘记|忘記 ~3 所有|全部|一切 ~4 指令|指示|命令",
            // Japanese
            "以前|前|これまで|上記|今まで|従来|先ほど|先程|上 ~4 指示|命令|プロンプト|指令 ~5 無視|忘れ|破棄|従わない",
            "すべて|全て|あらゆる ~2 指示|命令|プロンプト ~5 無視|忘れ|破棄",
            // Korean
            "이전|앞선|위의|기존|모든 ~4 지시*|명령*|프롬프트*|지침* ~4 무시*|잊*",
        ],
    ),
    rule(
        "disregard_rules",
        &[
            "ignoriere|ignorier|ignorieren|missachte|missachten|vergiss|brich|umgehe ~1 deine|eure|ihre|alle ~1 deine|regeln|richtlinien|einschränkungen|vorschriften|sicherheits*|beschränkungen",
            "ignore|ignorez|oublie|oubliez|contourne|contournez|enfreins|viole ~2 tes|vos|ton ~2 règles|restrictions|limites|principes|consignes|directives",
            "ignora|ignore|olvida|olvide|rompe|viola|incumple ~2 tus|sus ~2 reglas|restricciones|normas|directrices|límites|principios",
            "ignora|dimentica|viola ~2 tue|vostre ~1 regole|restrizioni|linee",
            "ignore|esqueça|viole ~2 suas|tuas ~1 regras|restrições|diretrizes",
            "игнорируй*|забудь*|нарушь*|нарушай*|обойди* ~2 свои|твои|ваши|своих ~2 правил*|ограничени*|политик*|принцип*",
            "忽略|无视|無視|违反|違反|打破|抛弃|绕过|繞過 ~2 你的|您的|你所有|自己的|妳的 ~6 规则|規則|准则|準則|限制|约束|約束|政策|原则|原則",
            "あなた|自分|君|安全 ~5 ルール|規則|制限|制約|ガイドライン|ポリシー ~4 無視|破って|破れ|解除|従わない|忘れ",
        ],
    ),
    rule(
        "deception_hide",
        &[
            "sag|sage|sagt|erzähl|erzähle|verrate|verrat|berichte ~2 nutzer*|benutzer*|anwender*|user|niemand* ~3 nichts|nicht",
            "sag|sage|sagt|erzähl|erzähle|verrate|verrat|berichte ~3 nichts|nicht ~3 nutzer*|benutzer*|anwender*|user",
            "informiere|informier|benachrichtige|informieren ~2 nutzer*|benutzer*|anwender* ~2 nicht",
            "verheimliche|verschweige|verheimlichen|verschweigen|verbirg|verberge ~5 nutzer*|benutzer*|anwender*|user",
            "nutzer*|benutzer*|anwender* ~1 darf|dürfen|soll|sollen ~3 nicht|nichts|nie ~3 erfahren|wissen|merken|bemerken",
            "ne|n ~1 dis|dites|parle|parlez|informe|informez|préviens|prévenez|révèle|révélez|mentionne|mentionnez ~2 pas|rien|jamais ~5 utilisateur*|usager*",
            "sans ~1 informer|prévenir|avertir|dire ~3 utilisateur*|usager*",
            "cache|cachez|dissimule|dissimulez ~2 ceci|cela|ça|le|la ~2 utilisateur*|usager*",
            "no ~2 digas|diga|informes|informe|cuentes|cuente|menciones|mencione|reveles|revele|avises ~4 usuario|usuarios|usuaria",
            "sin ~1 informar|avisar|decir|decirle|decírselo|informarle ~3 usuario|usuarios|usuaria",
            "oculta|oculte|esconde|esconda|ocúltalo|ocúltaselo|ocultar ~3 al|del ~0 usuario|usuarios",
            "non ~1 dire|dirlo|informare|avvisare|menzionare ~3 utente|utenti",
            "não ~1 diga|conte|informe|avise|mencione ~3 usuário|usuários|utilizador",
            "не ~2 говори*|сообщай*|рассказывай*|упоминай*|информируй* ~4 пользовател*|юзер*",
            "скрой*|скрывай*|утаи* ~3 от ~1 пользовател*|юзер*",
            "не ~1 говори* ~2 пользовател*",
            "不要|别|別|不得|切勿|不能|不可|勿 ~3 告诉|告訴|告知|通知|提醒|透露给|透露給 ~2 用户|用戶|使用者|主人|任何人",
            "不要|别|別|不得|切勿|不能 ~1 让|讓 ~0 用户|用戶|使用者 ~2 知道|察觉|察覺|发现|發現",
            "对|對|向 ~0 用户|用戶|使用者 ~2 隐瞒|隱瞞|保密",
            "隐瞒|隱瞞|瞒着|瞞著 ~2 用户|用戶|使用者",
            "ユーザー|ユーザ|利用者|使用者 ~3 言わない|伝えない|知らせない|教えない|話さない|言うな|伝えるな|報告しない|秘密|内緒|隠せ|隠して",
            "사용자* ~3 말하지|알리지|숨기*|비밀*",
        ],
    ),
];
