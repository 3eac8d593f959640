// The console: one application, for partners at /console and for operators at /.
import { createRoot } from 'react-dom/client'
import { App } from './app/app.tsx'
import { applyTheme } from './app/theme.ts'
import './styles/tokens.css'
import './styles/base.css'
import './styles/shell.css'
import './styles/controls.css'
import './styles/forms.css'
import './styles/dialogs.css'
import './styles/content.css'
import './styles/notices.css'
import './styles/money.css'
import './styles/tables.css'
import './styles/charts.css'
import './styles/code.css'

applyTheme()
createRoot(document.getElementById('root')!).render(<App />)
