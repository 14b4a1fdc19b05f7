import type { MailWords } from './shape.ts'

const roles = { owner: 'مالك', manager: 'مدير', viewer: 'مطّلع' }

const notYou = 'إن لم تكن أنت من فعل ذلك، فغيّر كلمة مرورك الآن وأخبر مشغّل الخدمة، فهو يستطيع إنهاء كل جلسات حسابك.'

export const ar: MailWords = {
  invitation: ({ community, role, link, consoleUrl }) => ({
    subject: `دعوة إلى إدارة ${community}`,
    text: [
      `أنت مدعو إلى إدارة ${community} على Hourbank بصفة ${roles[role]}. افتح هذا الرابط للقبول:`,
      link,
      'يعمل مرة واحدة خلال ساعة. وبعدها افتحه أيضًا: تستطيع الصفحة إرسال رابط جديد إليك.',
      `إن لم تكن تتوقع هذا فتجاهله: لن يحدث شيء. (${consoleUrl})`,
    ],
  }),
  reset: ({ link }) => ({
    subject: 'اختر كلمة مرور جديدة',
    text: [
      'طلب أحدهم كلمة مرور جديدة لحسابك على Hourbank. إن كنت أنت فافتح هذا الرابط:',
      link,
      'يعمل مرة واحدة خلال ساعة. وإن لم تكن أنت فتجاهل هذه الرسالة: تبقى كلمة مرورك كما هي.',
    ],
  }),
  newBrowser: ({ address = 'غير معروف', browser = 'غير معروف' }) => ({
    subject: 'تسجيل دخول من متصفح جديد',
    text: [
      'سجّل أحدهم الدخول إلى حسابك على Hourbank من متصفح لم يُستعمل له من قبل.',
      `العنوان: ${address}\nالمتصفح: ${browser}`,
      notYou,
    ],
  }),
  passwordChanged: () => ({
    subject: 'تغيّرت كلمة مرورك',
    text: ['تغيّرت كلمة مرور حسابك على Hourbank. وانتهت كل الجلسات الأخرى.', notYou],
  }),
  secondFactor: ({ change }) => ({
    subject: 'تغيّر عاملك الثاني',
    text: [
      {
        app_added: 'أُعدّ تطبيق مصادقة لحسابك على Hourbank. وانتهت كل الجلسات الأخرى.',
        app_removed: 'أُزيل تطبيق المصادقة من حسابك على Hourbank. وانتهت كل الجلسات الأخرى.',
        codes_replaced: 'استُبدلت رموز الاسترداد لحسابك على Hourbank. وانتهت كل الجلسات الأخرى.',
        passkey_added: 'أُضيف مفتاح مرور إلى حسابك على Hourbank. وانتهت كل الجلسات الأخرى.',
        passkey_removed: 'أُزيل مفتاح مرور من حسابك على Hourbank. وانتهت كل الجلسات الأخرى.',
      }[change],
      notYou,
    ],
  }),
  role: ({ community, role }) => ({
    subject: `دورك في ${community}`,
    text: [
      `أنت الآن تدير ${community} على Hourbank بصفة ${roles[role]}.`,
      'إن لم تكن تتوقع هذا فاسأل أحد مالكي المجتمع.',
    ],
  }),
  roleEnded: ({ community }) => ({
    subject: `لم تعد تدير ${community}`,
    text: [`لم تعد من مسؤولي ${community}.`, 'إن لم تكن تتوقع هذا فاسأل أحد مالكي المجتمع.'],
  }),
  alert: {
    inCommunity: ({ community, what }) => `${community}: ${what}`,
    howToChange: 'تختار ما تُبلَّغ به في صفحة حسابك في لوحة الإدارة.',
    titles: {
      webhook_failing: 'لم يصل شيء إلى ويب هوك منذ ساعة',
      webhook_disabled: 'عُطّل ويب هوك',
      hours_nearly_used: 'أضاف شريك 80٪ من ساعات يومه',
      hours_used: 'استنفد شريك ساعات يومه',
      calls_rejected: 'رُفضت استدعاءات كثيرة خلال دقائق',
      credentials_expiring: 'تنتهي صلاحية بيانات اعتماد خلال أسبوعين',
      ledger_wrong: 'وجد ledger verify فرقًا في الدفاتر',
      backup_failed: 'فشلت نسخة احتياطية',
      disk_low: 'قرص قاعدة البيانات يكاد يمتلئ',
    },
    sentences: {
      webhook_failing: ({ partner }) => `لم يصل شيء إلى ويب هوك لدى ${partner} منذ ساعة.`,
      webhook_disabled: ({ partner }) => `عُطّل ويب هوك لدى ${partner}. لم يعد يُرسل إليه شيء.`,
      hours_nearly_used: ({ partner, hours, limit }) => `أضاف ${partner} اليوم ${hours} من ${limit} ساعة.`,
      hours_used: ({ partner, hours, limit }) =>
        `استنفد ${partner} ساعات اليوم (${hours} من ${limit}). وتُرفض كل إضافة أخرى.`,
      calls_rejected: ({ partner, calls, minutes }) =>
        partner
          ? `استدعاءات ${partner} المرفوضة خلال ${minutes} دقيقة: ${calls}.`
          : `استدعاءات مجهولة مرفوضة خلال ${minutes} دقيقة: ${calls}.`,
      credentials_expiring: ({ partner, client, day }) =>
        `تنتهي صلاحية بيانات الاعتماد ${client} لدى ${partner} في ${day} (UTC).`,
      ledger_wrong: ({ differences }) => `وجد ledger verify فروقًا عددها ${differences}. على المشغّل أن ينظر فيها.`,
      backup_failed: ({ reason }) => `فشلت آخر نسخة احتياطية: ${reason}`,
      disk_low: ({ megabytes }) => `بقي على قرص قاعدة البيانات ${megabytes} ميغابايت. وفّر مساحة.`,
    },
  },
}
