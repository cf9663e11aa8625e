import { create, settings } from '../../../adapters/previews/none.js';
import { describePreviewer } from './previewer.contract.js';

describePreviewer('none', () => create(settings.parse({})));
